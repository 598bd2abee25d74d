import type { Log } from '@x/server'
import { postgresEngine } from '@x/tasks/postgres'
import type { TaskOptions } from '@x/tasks/server'
import type { Configuration } from '../configuration.ts'

/**
 * Returns the options of tasks in the database that all instances share. Without `takeoverMs` the default of the engine
 * applies.
 */
export function taskOptions(
  database: string,
  { takeoverMs }: Partial<Pick<Configuration, 'takeoverMs'>>,
  log: Log,
): TaskOptions {
  return {
    store: postgresEngine(database, { leaseMs: takeoverMs, log }),
    // This is about the duration of one change, so users see each one.
    pollIntervalMs: 250,
  }
}
