import { messageOf } from '@x/core'
import pg from 'pg'
import { ConfigurationError, readConfiguration } from '../configuration.ts'
import { startChild } from '../fleet/child.ts'

/** The database in which the instances store tasks. */
export interface TasksDatabase {
  /** The environment variables that make an instance of the server use it. */
  readonly environment: Readonly<Record<string, string>>
  /** `true` if the data is lost when the database stops. */
  readonly temporary: boolean
  stop(): Promise<void>
}

/**
 * The takeover time of tasks in a temporary database, in milliseconds. It is short so that the walk-through does not
 * wait long after it kills an instance.
 */
const temporaryTakeoverMs = 2_000
const connectTimeoutMs = 10_000

/**
 * Returns the database that the environment names, or starts one in a child process. Throws `ConfigurationError` if the
 * named database cannot be used.
 */
export async function openTasksDatabase(environment: NodeJS.ProcessEnv): Promise<TasksDatabase> {
  const { tasksDatabase: named, takeoverMs = temporaryTakeoverMs } = readConfiguration(environment)
  if (named !== undefined) {
    await checkConnection(named)
    return { environment: {}, temporary: false, stop: async () => {} }
  }
  const child = await startChild(new URL('./postgres-process.js', import.meta.url), {})
  return {
    environment: {
      TASKS_DATABASE: `postgres://postgres:password@127.0.0.1:${child.port}/postgres`,
      TASKS_TAKEOVER_MS: String(takeoverMs),
    },
    temporary: true,
    stop: child.stop,
  }
}

/** Checks the connection at the start. An instance would report the error only later, and keep retrying. */
async function checkConnection(url: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: connectTimeoutMs,
  })
  // The call that uses the connection reports its error.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT 1')
  } catch (error) {
    const { host } = new URL(url)
    throw new ConfigurationError(`TASKS_DATABASE cannot be used: ${reasonIn(error)} (${host})`)
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * Returns the message of a connection error. A host with several addresses causes an `AggregateError` without a
 * message.
 */
function reasonIn(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonIn).join('; ')
  return messageOf(error)
}
