import type { Log } from '@x/server'
import { postgresEngine } from '@x/tasks/postgres'
import type { TaskOptions } from '@x/tasks/server'

/** Returns the settings of tasks in a database that all instances share; `takeoverMs` is the engine's when absent. */
export function taskOptions(database: string, takeoverMs: number | undefined, log: Log): TaskOptions {
  return {
    store: postgresEngine(database, { leaseMs: takeoverMs, log }),
    // A change of a work item takes about as long: people see each one.
    pollIntervalMs: 250,
  }
}
