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

/** Filter of `list`. The default of its `limit` is 100. */
export type TaskQuery = Omit<TaskFilter, 'limit'> & { readonly limit?: TaskFilter['limit'] | undefined }

/**
 * For operators: all owners' tasks in a store. There is no check of who calls, so never return results to a client.
 * Each function rejects when the store is unreachable.
 */
export interface TaskAdmin {
  /** Lists tasks, newest first. */
  list(query?: TaskQuery): Promise<TaskPage>
  /** Shows a task with its requests, result or error. Undefined if it does not exist. */
  show(id: string): Promise<InspectedTask | undefined>
  /**
   * Counts the tasks that have not ended, by tool and state, with the age of the oldest. However many tasks have ended,
   * it takes no longer.
   */
  counts(): Promise<readonly TaskCount[]>
  /** Cancels a task: at once, or through the worker that runs it. */
  cancel(id: string): Promise<CancelOutcome>
  /** Takes a task from a worker that makes no progress. Its failures are reset, and any worker can claim it. */
  revoke(id: string): Promise<RevokeOutcome>
}

const maxPageSize = 1000

/** Calls `onChange` for a task that was cancelled here, and `onReady` for a revoked one. */
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
