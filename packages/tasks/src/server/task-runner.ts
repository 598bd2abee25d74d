import { type Clock, type LogContext, withTimeout } from '@x/core'
import type { TaskEngine } from '../engines/engine.ts'

/**
 * Decides where tasks run, in place of a server's worker: a distributed engine, a queue, or functions with a time
 * limit.
 */
export interface TaskRunner {
  /**
   * Must call `server.tasks.run(id)` once at any instance, after a delay in milliseconds. It may be called twice for
   * the same run. If it rejects or takes longer than 5 seconds, that is logged, and repeated after about 30 seconds.
   */
  dispatch(id: string, delayMs: number): Promise<void>
}

/** How long one run may take. */
export interface RunOptions {
  /** When it aborts, the task is released at the end of its current step. */
  readonly signal?: AbortSignal | undefined
  /**
   * Milliseconds after which the task is released at the end of its current step. With 0 or less, nothing is run, and
   * the outcome is `busy`. Default: no limit.
   */
  readonly budgetMs?: number | undefined
}

/**
 * How a run ended. `ended`: the task has a result, an error, or was cancelled. `waiting`: it waits for its client, and
 * its last answer dispatches it. `unknown`: it does not exist. `released`: it was given back at a boundary, and was
 * dispatched again. `busy`: another claim has the task, a pause has not ended, this instance has no free slot, or the
 * budget was used up; the runner must call again after `retryAfterMs` milliseconds.
 */
export type RunOutcome =
  | { readonly status: 'ended' | 'waiting' | 'unknown' | 'released' }
  | { readonly status: 'busy'; readonly retryAfterMs: number }

/** Dispatches a task to the runner. False if that failed; true without a runner. */
export type Dispatch = (id: string, delayMs?: number) => Promise<boolean>

const dispatchTimeoutMs = 5000

/** The returned function never rejects. */
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

const maxDueTasks = 1000

const batchSize = 10

/**
 * Dispatches ready tasks again, because an earlier dispatch may be lost. A batch that fails as a whole ends it: the
 * runner is unreachable then.
 */
export async function dispatchDueTasks(engine: Pick<TaskEngine, 'listDue'>, dispatch: Dispatch): Promise<void> {
  const ids = await engine.listDue(maxDueTasks)
  for (let start = 0; start < ids.length; start += batchSize) {
    const batch = ids.slice(start, start + batchSize).map((id) => dispatch(id))
    if (!(await Promise.all(batch)).includes(true)) return
  }
}

/** For a run that could not claim its task, or lost the claim. */
export async function outcomeWithoutClaim(engine: Pick<TaskEngine, 'inspect'>, id: string): Promise<RunOutcome> {
  const task = await engine.inspect(id)
  if (task === undefined) return { status: 'unknown' }
  if (task.state === undefined) return { status: 'ended' }
  if (task.state === 'waiting') return { status: 'waiting' }
  return { status: 'busy', retryAfterMs: Math.max(minRetryMs, Math.ceil(task.dueInMs ?? 0)) }
}

const minRetryMs = 100
