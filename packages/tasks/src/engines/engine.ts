import type { JournalEntry } from '@x/exchange'
import type { JsonObject, WireError } from '@x/schema'
import type { ChangeBus } from '@x/core'
import type { TaskStatus } from '../schema/task.ts'

/**
 * Stores tasks and assigns them to workers, so that a task survives its process. The instances of a server share one
 * store. Each instance accesses the store through its own `TaskEngine`.
 *
 * Every function is one transaction. When it resolves, its effect is visible to every instance. When it rejects because
 * the store is unreachable, it either had no effect, or had its full effect and only the answer was lost. Arguments and
 * results are copies. All times are those of the store, so clocks of instances are never compared.
 *
 * A task whose lifetime has ended does not exist for these functions, even if it is not deleted yet.
 */
export interface TaskEngine {
  /**
   * Milliseconds for which a claim is valid after it was made or renewed. After that, another worker may claim the
   * task.
   */
  readonly leaseMs: number
  /**
   * The bus that delivers changes of tasks between the instances that share the store. If it is absent, the bus of the
   * server is used. If there is none either, an instance streams only its own changes. Then clients see changes of
   * other instances when they poll.
   */
  readonly notifications?: ChangeBus | undefined
  /**
   * Creates a task with the status `working`, ready to be claimed, and notifies the workers. If the caller already has
   * `callerLimit` tasks, of any status, its oldest ended task is deleted. Resolves with `full` if none of them has
   * ended. Rejects if the id is in use.
   */
  create(task: NewTask): Promise<TaskRow | 'full'>
  /** Reads a task of an owner. Undefined if the task does not exist, or belongs to another owner. */
  get(id: string, owner: string): Promise<TaskRow | undefined>
  /**
   * Stores answers to open requests, and ignores answers with other keys. An answered request is removed from the row.
   * After the last answer the task is `working` and ready to be claimed, and the workers are notified. If several
   * answers come at the same time, only one call resolves with `resumed`.
   */
  answer(answers: TaskAnswers): Promise<TaskAnswerOutcome>
  /**
   * Cancels a task. A task that is not claimed ends at once. For a claimed task, its worker is notified through
   * `listen` and by the result of its next write. Without `owner`, which is for operators, the task may belong to any
   * owner.
   */
  cancel(id: string, owner?: string): Promise<CancelOutcome>
  /**
   * Claims tasks for this worker: ready tasks and tasks with an expired lease, in the order in which they became due.
   * Each claim has a new token and a higher attempt.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>
  /**
   * Renews leases, and returns the state of each in the same order. An expired lease is renewed as well, unless another
   * worker has claimed the task.
   */
  heartbeat(leases: readonly Lease[]): Promise<readonly LeaseState[]>
  /**
   * Stores entries of the journal, the status message and the numbers of progress. They are stored if the result is
   * `owned` or `cancelling`.
   */
  record(lease: Lease, progress: TaskProgress): Promise<LeaseState>
  /**
   * Ends the claim of a task that now waits for its client. The task becomes `input_required`, and its count of
   * failures is reset. `cancelling` means that nothing was written, and that this worker has to finish the task.
   */
  suspend(lease: Lease, suspension: TaskSuspension): Promise<LeaseState>
  /**
   * Ends the claim of a task without counting a failure. The task is ready at once, and the workers are notified. With
   * `pauseMs` it is ready after the pause. `cancelling` has the same meaning as in `suspend`.
   */
  release(lease: Lease, taskRelease: TaskRelease): Promise<LeaseState>
  /**
   * Ends a task, and deletes its payload, journal and answers. Resolves with false if the claim was no longer valid.
   * Then nothing was written.
   */
  finish(lease: Lease, taskEnd: TaskEnd): Promise<boolean>
  /** Deletes some of the tasks whose lifetime has ended, and returns the number of deleted tasks. */
  deleteExpiredTasks(): Promise<number>
  /**
   * Calls the listener when tasks become ready and when claimed tasks are cancelled. A lost notification only causes a
   * delay, because workers also poll. Resolves with the function that stops listening. Rejects if the store is
   * unreachable.
   */
  listen(listener: EngineListener): Promise<() => void>
  /** Returns the ids of at most `limit` tasks that can be claimed, in the order in which they became due. */
  listDue(limit: number): Promise<readonly string[]>
  /** Reads a task of any owner, for operators. Undefined if the task does not exist. */
  inspect(id: string): Promise<InspectedTask | undefined>
  /** Ends the claim of a task, resets its failures and makes it ready, for operators. */
  revoke(id: string): Promise<RevokeOutcome>
  /** Lists tasks, the newest first, for operators. */
  list(filter: TaskFilter): Promise<TaskPage>
  /** Counts the tasks that have not ended by tool and state, for operators. */
  count(): Promise<readonly TaskCount[]>
  /** Resolves when the store answers. Opens the store if it is not open yet. Rejects if the store is unreachable. */
  ping(): Promise<void>
  /** Closes the resources of the engine in this instance. Tasks remain stored, unless they were in memory. */
  close(): Promise<void>
}

/** A worker's request for tasks. */
export interface ClaimRequest {
  readonly maxClaims: number
  /** If given, only the task with this id is claimed, and only if it is ready. */
  readonly id?: string | undefined
  /** The name under which operators see the worker: its host and process. */
  readonly worker?: string | undefined
}

/** The tasks that a worker has claimed. */
export interface ClaimResult {
  readonly tasks: readonly ClaimedTask[]
  /** Milliseconds until the next pause or lease ends. Undefined if no task is paused or claimed. */
  readonly nextDueMs: number | undefined
}

/** A task to be created. */
export interface NewTask {
  /** A text that cannot be guessed, of at least 128 random bits. */
  readonly id: string
  /** The key of the owner. The same principal always has the same key. */
  readonly owner: string
  /**
   * The key of the caller, for which `callerLimit` counts tasks. All callers without a principal share one owner, but
   * there is one caller key for each address.
   */
  readonly caller: string
  /** The name of the tool that the task runs, for operators. */
  readonly tool: string
  /** The data that a worker needs to run the task. The engine only stores it. */
  readonly payload: JsonObject
  readonly statusMessage?: string | undefined
  /** Milliseconds from now for which the task is stored. Null for ever. */
  readonly lifetimeMs: number | null
  /** True if later changes never prolong the lifetime, for example because the client asked for this lifetime. */
  readonly hasFixedLifetime?: boolean | undefined
  /** The largest number of tasks, of every status, that the caller may have. */
  readonly callerLimit: number
}

/** The public state of a task. */
export interface TaskRow {
  readonly id: string
  readonly status: TaskStatus
  readonly statusMessage: string | undefined
  /** The numbers of the handler's last report of progress. */
  readonly progress: ProgressNumbers | undefined
  /** Milliseconds since 1970, of the engine's clock. */
  readonly createdAt: number
  /** Milliseconds since `createdAt`, of the engine's clock. */
  readonly ageMs: number
  /** The time of the last change of status, status message, progress or requests, in milliseconds since 1970. */
  readonly updatedAt: number
  /** Milliseconds from `createdAt` until the task is deleted. Null if it is never deleted. */
  readonly ttlMs: number | null
  /** The unanswered requests, by key. Empty unless the status is `input_required`. */
  readonly requests: JsonObject
  /** The result of a completed task. */
  readonly result: JsonObject | undefined
  /** The error of a failed task. */
  readonly error: WireError | undefined
}

/** Answers that the owner of a task sends. */
export interface TaskAnswers {
  readonly id: string
  readonly owner: string
  /** The answers, by the key of the request. */
  readonly responses: JsonObject
  /** Milliseconds from now for which a resumed task is stored. A longer lifetime is not shortened. */
  readonly lifetimeMs: number | null
}

/**
 * The outcome of `answer`. `unknown`: the task does not exist, or belongs to another owner. `ignored`: no answer has
 * the key of an open request. `stored`: other requests are still open. `resumed`: the task continues.
 */
export type TaskAnswerOutcome = 'unknown' | 'ignored' | 'stored' | 'resumed'

/**
 * The outcome of `cancel`. `unknown`: the task does not exist. `notified`: its worker will cancel it. `finished`: the
 * task had ended before.
 */
export type CancelOutcome = 'unknown' | 'cancelled' | 'notified' | 'finished'

/**
 * The outcome of `revoke`. `unknown`: the task does not exist. `waiting`: the task waits for its client, so it has no
 * claim. `finished`: the task has ended.
 */
export type RevokeOutcome = 'unknown' | 'waiting' | 'finished' | 'revoked'

/** The right of a worker to write to a task. It ends when the task ends or is claimed again. */
export interface Lease {
  readonly id: string
  /** The number of claims of the task so far. If a store loses a commit, two claims may have the same number. */
  readonly attempt: number
  /** A random text that only this claim has. Every write compares it with the stored token. */
  readonly token: string
}

/**
 * The state of a lease. `owned`: the worker continues. `cancelling`: the task was cancelled, and the worker has to
 * finish it. `lost`: the task has ended or was claimed again, and nothing was written.
 */
export type LeaseState = 'owned' | 'cancelling' | 'lost'

/** A task that a worker has claimed. */
export interface ClaimedTask extends Lease {
  /** The number of leases that expired since a step was last recorded. */
  readonly failures: number
  /** Milliseconds for which the task was ready, or since its last lease expired. */
  readonly waitedMs: number
  readonly payload: JsonObject
  /**
   * The recorded entries of the journal, at most one for each part and key. An entry without a value records that its
   * member was removed.
   */
  readonly entries: readonly JournalEntry[]
  /** All stored answers, by key. */
  readonly responses: JsonObject
  /** True once the client has cancelled the task. */
  readonly isCancelling: boolean
}

/** The progress that a handler reported (basic/patterns/progress). */
export type ProgressNumbers = {
  readonly progress: number
  readonly total?: number | undefined
}

/** The progress that a worker stores. */
export interface TaskProgress {
  readonly entries: readonly JournalEntry[]
  /** The new status message. If it is undefined, the stored message does not change. */
  readonly statusMessage?: string | undefined
  /** The new numbers of progress. If they are undefined, the stored numbers do not change. */
  readonly progress?: ProgressNumbers | undefined
  /** True if a step was recorded, which resets the count of failures. */
  readonly hasProgressed: boolean
}

/** The progress of a task that is released, and its pause. */
export interface TaskRelease extends TaskProgress {
  /** Milliseconds for which the task cannot be claimed, although it can be cancelled. Undefined for no pause. */
  readonly pauseMs?: number | undefined
}

/** The progress of a task that now waits for answers, and the requests to its client. */
export interface TaskSuspension extends TaskProgress {
  /**
   * The requests to the client, by key. A key of an earlier request may be used again only for the same request, and
   * only if that request is unanswered.
   */
  readonly requests: JsonObject
  /** Milliseconds from now for which the task is stored. A longer lifetime is not shortened. */
  readonly lifetimeMs: number | null
}

/** The end of a task. */
export interface TaskEnd {
  readonly outcome:
    | { readonly status: 'completed'; readonly result: JsonObject }
    | { readonly status: 'failed'; readonly error: WireError }
    | { readonly status: 'cancelled' }
  /** The status message. If it is undefined, the stored message is removed. */
  readonly statusMessage?: string | undefined
  /** The new numbers of progress. If they are undefined, the stored numbers do not change. */
  readonly progress?: ProgressNumbers | undefined
  /** Milliseconds from now for which the task is stored. A longer lifetime is not shortened. */
  readonly lifetimeMs: number | null
}

/** The listener of an engine. */
export interface EngineListener {
  /** Called when a task may have become ready. */
  readonly onWork: () => void
  /** Called when a claimed task was cancelled. The claim may belong to another instance. */
  readonly onCancel: (id: string) => void
}

/**
 * The state of a task that has not ended. `ready`: it can be claimed. `running`: it is claimed. `paused`: it becomes
 * ready after a pause. `waiting`: it waits for its client.
 */
export type OpenTaskState = 'ready' | 'running' | 'paused' | 'waiting'

/** A task as operators see it in a list: without arguments, requests and results. */
export interface TaskSummary extends Pick<TaskRow, 'id' | 'status' | 'statusMessage' | 'createdAt' | 'updatedAt'> {
  readonly owner: string
  /** The name of the tool that the task runs. */
  readonly tool: string
  /** Undefined for a task that has ended. */
  readonly state: OpenTaskState | undefined
  readonly attempt: number
  readonly failures: number
  /** The name of the worker that has the current claim. */
  readonly worker: string | undefined
  /** Milliseconds until the pause or the lease ends. A negative number says how long the task has been ready. */
  readonly dueInMs: number | undefined
}

/** A task as operators see it, with its requests and its outcome. */
export interface InspectedTask extends TaskRow, Omit<TaskSummary, keyof TaskRow> {}

/** The tasks that an operator wants to see. An absent member excludes no task. */
export interface TaskFilter {
  readonly status?: TaskStatus | undefined
  readonly tool?: string | undefined
  readonly owner?: string | undefined
  /** The least age of the tasks, in milliseconds since their creation. */
  readonly olderThanMs?: number | undefined
  /** The least number of failures of the tasks since their last recorded step. */
  readonly minFailures?: number | undefined
  /** The largest number of tasks on a page. */
  readonly limit: number
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

/** A page of tasks, and the cursor of the next page if there is one. */
export interface TaskPage {
  readonly tasks: readonly TaskSummary[]
  readonly nextCursor?: string | undefined
}

/** The number of tasks of one tool in one state. Tasks that have ended are not counted. */
export interface TaskCount {
  readonly tool: string
  readonly status: TaskStatus
  readonly state: OpenTaskState
  readonly count: number
  /**
   * The greatest age of these tasks, in milliseconds: since they became ready in the state `ready`, and otherwise since
   * their creation.
   */
  readonly oldestAgeMs: number
}
