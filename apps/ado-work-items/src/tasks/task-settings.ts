import { postgresEngine } from '@x/tasks/postgres'
import type { TaskOptions } from '@x/tasks/server'
import { ConfigurationError } from '../azure-devops/connection.ts'

/** The variable that names the database of tasks, as a `postgres://` URL. */
export const databaseVariable = 'TASKS_DATABASE'
/** The variable that says after how many milliseconds without a sign of life a task is taken over. */
export const takeoverVariable = 'TASKS_TAKEOVER_MS'

const [shortestTakeover, longestTakeover] = [500, 3_600_000]

/**
 * The URL in the environment, if there is one. Throws `ConfigurationError`, which never shows it: it has a password.
 */
export function databaseFrom(environment: NodeJS.ProcessEnv): string | undefined {
  const url = environment[databaseVariable] ?? ''
  if (url === '') return undefined
  if (/^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url)) return url
  throw new ConfigurationError(
    `${databaseVariable} cannot be used: it should be a URL such as postgres://user:password@host:5432/database`,
  )
}

/**
 * After how many milliseconds a task is taken over; undefined leaves that to the engine. Throws `ConfigurationError`.
 */
export function takeoverFrom(environment: NodeJS.ProcessEnv): number | undefined {
  const text = environment[takeoverVariable] ?? ''
  if (text === '') return undefined
  const ms = Number(text)
  if (Number.isInteger(ms) && ms >= shortestTakeover && ms <= longestTakeover) return ms
  throw new ConfigurationError(
    `${takeoverVariable} cannot be used: it should be a whole number of milliseconds from ${shortestTakeover} to ${longestTakeover}`,
  )
}

/**
 * Returns an instance's storage and worker settings of tasks. Throws `ConfigurationError` when the environment names no
 * database.
 */
export function taskOptionsFrom(environment: NodeJS.ProcessEnv, onError: (error: unknown) => void): TaskOptions {
  const database = databaseFrom(environment)
  if (database === undefined) throw new ConfigurationError(`an instance needs ${databaseVariable}`)
  return {
    engine: postgresEngine(database, { leaseMs: takeoverFrom(environment), onError }),
    // A change of a work item takes about as long: people see each one.
    pollIntervalMs: 250,
    onError,
  }
}
