import { type Clock, type LogContext, withTimeout } from '@x/core'
import type { TaskEngine } from '../engines/engine.ts'

/**
 * The system that decides where tasks run, instead of the worker of a server: a distributed engine, a queue, or
 * functions with a time limit.
 */
export interface TaskRunner {
  /**
   * Makes the runner call `server.tasks.run(id)` once at any instance, after a delay in milliseconds. It may be called
   * twice for the same run. A call that rejects or takes longer than 5 seconds is logged, and repeated after about 30
   * seconds.
   */
  dispatch(id: string, delayMs: number): Promise<void>
}

/** The options of a run. */
export interface RunOptions {
  /** Releases the task at the end of its current step when it aborts. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds after which the task is released at the end of its current step. Default: no limit. */
  readonly budgetMs?: number | undefined
}

/**
 * The outcome of a run. `ended`: the task has a result, an error, or was cancelled. `waiting`: the task waits for its
 * client, and its last answer dispatches it. `unknown`: the task does not exist. `released`: the task was given back at
 * a boundary, and was dispatched again. `busy`: another claim has the task, a pause has not ended, or this instance has
 * no free slot. The runner has to call again after `retryAfterMs` milliseconds.
 */
export type RunOutcome =
  | { readonly status: 'ended' | 'waiting' | 'unknown' | 'released' }
  | { readonly status: 'busy'; readonly retryAfterMs: number }

/** Dispatches a task to the runner. Resolves to false if that failed. Without a runner, resolves to true. */
export type Dispatch = (id: string, delayMs?: number) => Promise<boolean>

const dispatchTimeoutMs = 5000

/** Creates the function that dispatches tasks. It never rejects. */
export function createDispatch(
  runner: TaskRunner | undefined,
  clock: Clock,
  onError: (error: unknown, context: LogContext) => void,
): Dispatch {
  if (runner === undefined) return async () => true
  const createTimeoutError = (): Error =>
    new Error(`The runner did not answer to dispatch within ${dispatchTimeoutMs} ms`)
  return async (id, delayMs = 0) => {
    try {
      await withTimeout({ timeoutMs: dispatchTimeoutMs, clock, createTimeoutError }, async () =>
        runner.dispatch(id, delayMs),
      )
      return true
    } catch (error) {
      onError(error, { taskId: id })
      return false
    }
  }
}

/** The largest number of tasks that are dispatched again at once. */
const maxDueTasks = 1000

const batchSize = 10

/**
 * Dispatches again the tasks that are ready, because an earlier dispatch may be lost. Stops if a whole batch fails,
 * because the runner is unreachable then.
 */
export async function dispatchDueTasks(engine: Pick<TaskEngine, 'listDue'>, dispatch: Dispatch): Promise<void> {
  const ids = await engine.listDue(maxDueTasks)
  for (let start = 0; start < ids.length; start += batchSize) {
    const batch = ids.slice(start, start + batchSize).map((id) => dispatch(id))
    if (!(await Promise.all(batch)).includes(true)) return
  }
}

/** Returns the outcome of a run that could not claim its task, or lost the claim. */
export async function outcomeWithoutClaim(engine: Pick<TaskEngine, 'inspect'>, id: string): Promise<RunOutcome> {
  const task = await engine.inspect(id)
  if (task === undefined) return { status: 'unknown' }
  if (task.state === undefined) return { status: 'ended' }
  if (task.state === 'waiting') return { status: 'waiting' }
  return { status: 'busy', retryAfterMs: Math.max(minRetryMs, Math.ceil(task.dueInMs ?? 0)) }
}

/** The smallest number of milliseconds after which a run is tried again. */
const minRetryMs = 100
