import type { PageHandler } from '@apps/front/serve-page'
import type { Log } from '@x/server'
import { postgresEngine } from '@x/tasks/postgres'
import type { TaskOptions, TasksApi } from '@x/tasks/server'
import type { Configuration } from '../configuration.ts'
import { restateRunner, serveRestate } from './restate.ts'

/** Returns the settings of tasks in a database that all instances share; `takeoverMs` is the engine's when absent. */
export function taskOptions(
  database: string,
  { takeoverMs, restate }: Partial<Pick<Configuration, 'takeoverMs' | 'restate'>>,
  log: Log,
): TaskOptions {
  return {
    store: postgresEngine(database, { leaseMs: takeoverMs, log }),
    runner: restate === undefined ? undefined : restateRunner(restate),
    // A change of a work item takes about as long: people see each one.
    pollIntervalMs: 250,
  }
}

/** Serves the runs of tasks if a Restate decides where they run, and everything else as `next` does. */
export function serveRuns(
  { restate }: Pick<Configuration, 'restate'>,
  tasks: TasksApi,
  next: PageHandler,
): PageHandler {
  if (restate === undefined) return next
  const serve = serveRestate(tasks)
  return (request, response) => serve(request, response) || next(request, response)
}
