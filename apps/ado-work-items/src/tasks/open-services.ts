import pg from 'pg'
import { ConfigurationError, readConfiguration } from '../configuration.ts'
import { startChild } from '../fleet/child.ts'
import { restatePath } from './restate.ts'

/** The database in which the instances keep tasks. */
export interface TasksDatabase {
  /** The environment variables that make an instance of the server use it. */
  readonly environment: Readonly<Record<string, string>>
  /** `true` when the data is lost at the stop. */
  readonly temporary: boolean
  stop(): Promise<void>
}

/**
 * It only has to be heard of within this time to be seen as alive, and a walk-through should not stand still for long.
 */
const temporaryTakeoverMs = 2_000
const connectTimeoutMs = 10_000

/**
 * The database that the environment names, else one that is started for it in a process of its own. Throws
 * `ConfigurationError` when the one that is named cannot be used.
 */
export async function openTasksDatabase(environment: NodeJS.ProcessEnv): Promise<TasksDatabase> {
  const { tasksDatabase: named, takeoverMs = temporaryTakeoverMs } = readConfiguration(environment)
  if (named !== undefined) {
    await checkConnection(named)
    return { environment: {}, temporary: false, stop: async () => {} }
  }
  const child = await startChild(new URL('./process.js', import.meta.url), {})
  return {
    environment: {
      TASKS_DATABASE: `postgres://postgres@127.0.0.1:${child.port}/postgres`,
      TASKS_TAKEOVER_MS: String(takeoverMs),
    },
    temporary: true,
    stop: child.stop,
  }
}

/** An instance would only say later that it cannot reach it, and go on trying. */
async function checkConnection(url: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: connectTimeoutMs,
  })
  // An error that breaks the connection also ends the call that waits for it.
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

/** A host with several addresses gives an error for each, and none in its own words. */
function reasonIn(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonIn).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/** A Restate server that decides where tasks run. */
export interface RestateService {
  /** The environment variables that make an instance of the server use it. */
  readonly environment: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** Starts a Restate server, which calls the instances at the URL that they share. */
export async function openRestate(url: string): Promise<RestateService> {
  const endpoint = new URL(restatePath, url).href
  const child = await startChild(new URL('./restate-process.js', import.meta.url), { RESTATE_ENDPOINT: endpoint })
  const environment = { TASKS_RESTATE: `http://127.0.0.1:${child.port}`, RESTATE_LOGGING: 'ERROR' }
  return { environment, stop: child.stop }
}
