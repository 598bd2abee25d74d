import type { PageHandler } from '@apps/front/serve-page'
import type { Log } from '@x/server'
import { postgresEngine } from '@x/tasks/postgres'
import type { TaskOptions, TasksApi } from '@x/tasks/server'
import type { Configuration } from '../configuration.ts'
import { restateRunner, serveRestate } from './restate.ts'

/**
 * Returns the options of tasks in the database that all instances share. Without `takeoverMs` the default of the engine
 * applies.
 */
export function taskOptions(
  database: string,
  { takeoverMs, restate }: Partial<Pick<Configuration, 'takeoverMs' | 'restate'>>,
  log: Log,
): TaskOptions {
  return {
    store: postgresEngine(database, { leaseMs: takeoverMs, log }),
    runner: restate === undefined ? undefined : restateRunner(restate),
    // This is about the duration of one change, so users see each one.
    pollIntervalMs: 250,
  }
}

/** Creates the handler that receives task runs if Restate is configured; other requests go to `next`. */
export function serveRuns(
  { restate }: Pick<Configuration, 'restate'>,
  tasks: TasksApi,
  next: PageHandler,
): PageHandler {
  if (restate === undefined) return next
  const serve = serveRestate(tasks)
  return (request, response) => serve(request, response) || next(request, response)
}
