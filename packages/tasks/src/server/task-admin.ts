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

/** The tasks of a list, {@link TaskFilter} with a default. */
export interface TaskQuery extends Omit<TaskFilter, 'limit'> {
  /** The number of tasks of a page, from 1 to 1000. Default: 100. */
  readonly limit?: number | undefined
}

/**
 * The operator's view of the tasks of a store, of every owner. No function checks a caller, so never return its result to
 * a client. Every function rejects when the store is unreachable.
 */
export interface TaskAdmin {
  /** Lists tasks, the newest first. */
  list(query?: TaskQuery): Promise<TaskPage>
  /** Returns a task with its requests, result or error. Undefined when there is none. */
  show(id: string): Promise<InspectedTask | undefined>
  /** Counts tasks by tool, status and state, with the age of the oldest one of each. */
  counts(): Promise<readonly TaskCount[]>
  /** Cancels a task, at once or through its worker. */
  cancel(id: string): Promise<CancelOutcome>
  /** Ends the claim of a task whose worker does not proceed, resets its failures, and makes it ready for any worker. */
  revoke(id: string): Promise<RevokeOutcome>
}

const maxPageSize = 1000

/** Creates the operator's view of an engine. `onChange` is called with the id of a task that was cancelled. */
export function createTaskAdmin(
  engine: Pick<TaskEngine, 'list' | 'inspect' | 'count' | 'cancel' | 'revoke'>,
  onChange: (id: string) => void,
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
    revoke: (id) => engine.revoke(id),
  }
}
