import { checkedNumber } from '@x/core'
import type {
  CancelOutcome,
  InspectedTask,
  RevokeOutcome,
  TaskCount,
  TaskEngine,
  TaskFilter,
  TaskPage,
} from '../engines/engine.ts'

/** The filter of `list`: a {@link TaskFilter} whose `limit` is optional. */
export interface TaskQuery extends Omit<TaskFilter, 'limit'> {
  /** The largest number of tasks on a page, from 1 to 1000. Default: 100. */
  readonly limit?: number | undefined
}

/**
 * Functions for operators, for the tasks of all owners in a store. They do not check who calls, so never return their
 * results to a client. Each function rejects when the store is unreachable.
 */
export interface TaskAdmin {
  /** Lists tasks, the newest first. */
  list(query?: TaskQuery): Promise<TaskPage>
  /** Returns a task with its requests, result or error. Undefined if the task does not exist. */
  show(id: string): Promise<InspectedTask | undefined>
  /**
   * Counts the tasks that have not ended, by tool and state. Each count includes the age of its oldest task. The time
   * that this takes does not depend on the number of ended tasks.
   */
  counts(): Promise<readonly TaskCount[]>
  /** Cancels a task: at once, or through the worker that runs it. */
  cancel(id: string): Promise<CancelOutcome>
  /**
   * Takes a task from a worker that makes no progress. Resets the failures of the task, so that any worker can claim
   * it.
   */
  revoke(id: string): Promise<RevokeOutcome>
}

const maxPageSize = 1000

/** Creates a {@link TaskAdmin} for an engine. Calls `onChange` for a task that it has cancelled, `onReady` for a revoked one. */
export function createTaskAdmin(
  engine: Pick<TaskEngine, 'list' | 'inspect' | 'count' | 'cancel' | 'revoke'>,
  {
    onChange,
    onReady,
  }: { readonly onChange: (id: string) => void; readonly onReady?: (id: string) => Promise<unknown> },
): TaskAdmin {
  return {
    list: async ({ limit = 100, ...query } = {}) =>
      engine.list({ ...query, limit: checkedNumber('limit', limit, { max: maxPageSize }) }),
    show: (id) => engine.inspect(id),
    counts: () => engine.count(),
    cancel: async (id) => {
      const outcome = await engine.cancel(id)
      if (outcome === 'cancelled') onChange(id)
      return outcome
    },
    revoke: async (id) => {
      const outcome = await engine.revoke(id)
      if (outcome === 'revoked') await onReady?.(id)
      return outcome
    },
  }
}
