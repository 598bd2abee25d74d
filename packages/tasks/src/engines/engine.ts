import type { JournalEntry } from '@x/exchange'
import type { JsonObject, WireError } from '@x/schema'
import type { ChangeBus, Log } from '@x/core'
import type { TaskStatus } from '../schema/task.ts'

/**
 * Stores tasks and assigns them to workers, so that a task survives its process. A server's instances share one store,
 * each through its own `TaskEngine`.
 *
 * Every function is one transaction. When it resolves, its effect is visible to every instance. When it rejects because
 * the store is unreachable, it either had no effect, or had its full effect and only the answer was lost. Arguments and
 * results are copies. All times are the store's, so clocks of instances are never compared.
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
   * Delivers changes of tasks between the instances that share the store. Without it, the server's bus does; without
   * either, an instance streams only its own changes, and clients see those of other instances when they poll.
   */
  readonly notifications?: ChangeBus | undefined
  /**
   * Creates a task with the status `working`, ready to be claimed, and notifies the workers. If the caller already has
   * `callerLimit` tasks, of any status, its oldest ended task is deleted; `full` if none has ended. Rejects if the id
   * is in use.
   */
  create(task: NewTask): Promise<TaskRow | 'full'>
  /** Reads an owner's task. Undefined if it does not exist, or belongs to another owner. */
  get(id: string, owner: string): Promise<TaskRow | undefined>
  /**
   * Stores answers to open requests, and ignores answers with other keys. An answered request is removed from the row;
   * after the last one the task is `working` and ready to be claimed, and the workers are notified. If several answers
   * come at the same time, only one call resolves with `resumed`.
   */
  answer(answers: TaskAnswers): Promise<TaskAnswerOutcome>
  /**
   * Cancels a task. An unclaimed one ends at once; otherwise its worker is notified, through `listen` and by the result
   * of its next write. Without `owner`, which is for operators, the task may belong to any owner.
   */
  cancel(id: string, owner?: string): Promise<CancelOutcome>
  /**
   * Claims tasks for this worker: ready ones and those with an expired lease, in the order in which they became due.
   * Each claim has a new token and a higher attempt.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>
  /**
   * Renews leases, and returns the state of each in the same order. An expired lease is renewed as well, unless another
   * worker has claimed the task.
   */
  heartbeat(leases: readonly Lease[]): Promise<readonly LeaseState[]>
  /**
   * Stores entries of the journal, the status message and the numbers of progress, if the result is `owned` or
   * `cancelling`.
   */
  record(lease: Lease, progress: TaskProgress): Promise<LeaseState>
  /**
   * Ends the claim of a task that now waits for its client: it becomes `input_required`, and its failures are reset.
   * `cancelling` means that nothing was written, and that this worker must finish the task.
   */
  suspend(lease: Lease, suspension: TaskSuspension): Promise<LeaseState>
  /**
   * Ends a claim without counting a failure. The task is ready at once, and the workers are notified; with `pauseMs` it
   * is ready after the pause. `cancelling` means the same as for `suspend`.
   */
  release(lease: Lease, taskRelease: TaskRelease): Promise<LeaseState>
  /**
   * Ends a task, and deletes its payload, journal and answers. False if the claim was no longer valid, and nothing was
   * written.
   */
  finish(lease: Lease, taskEnd: TaskEnd): Promise<boolean>
  /** Deletes some of the tasks whose lifetime has ended, and says how many. */
  deleteExpiredTasks(): Promise<number>
  /**
   * Calls the listener when tasks become ready and when claimed tasks are cancelled. A lost notification only causes a
   * delay, because workers also poll. Resolves with the function that stops listening. Rejects if the store is
   * unreachable.
   */
  listen(listener: EngineListener): Promise<() => void>
  /** Ids of at most `limit` tasks that can be claimed, in the order in which they became due. */
  listDue(limit: number): Promise<readonly string[]>
  /** Reads any owner's task, for operators. Undefined if it does not exist. */
  inspect(id: string): Promise<InspectedTask | undefined>
  /** Ends a claim, resets the task's failures and makes it ready, for operators. */
  revoke(id: string): Promise<RevokeOutcome>
  /** Lists tasks, newest first, for operators. */
  list(filter: TaskFilter): Promise<TaskPage>
  /** Counts the tasks that have not ended by tool and state, for operators. */
  count(): Promise<readonly TaskCount[]>
  /** Resolves when the store answers, which may first have to be opened. Rejects if it is unreachable. */
  ping(): Promise<void>
  /** The server that gets the engine calls this with its log. The engine then reports there, unless it has its own. */
  useLog?(log: Log): void
  /** Closes this instance's resources. Tasks remain stored, unless they were in memory. */
  close(): Promise<void>
}

/** How many tasks a worker wants to claim, and which. */
export interface ClaimRequest {
  readonly maxClaims: number
  /** Claims only the task with this id, and only if it is ready. */
  readonly id?: string | undefined
  /** How operators see the worker: its host and process. */
  readonly worker?: string | undefined
}

/** What a worker got, and when to ask again. */
export interface ClaimResult {
  readonly tasks: readonly ClaimedTask[]
  /** Milliseconds until the next pause or lease ends. Undefined if no task is paused or claimed. */
  readonly nextDueMs: number | undefined
}

/** A task to be created. */
export interface NewTask {
  /** Must not be guessable: at least 128 random bits. */
  readonly id: string
  /** Key of the owner. A principal always has the same key. */
  readonly owner: string
  /**
   * Key of the caller, for which `callerLimit` counts tasks. All callers without a principal share one owner, but each
   * address has a caller key.
   */
  readonly caller: string
  /** Name of the tool that the task runs, for operators. */
  readonly tool: string
  /** What a worker needs to run the task. An engine only stores it. */
  readonly payload: JsonObject
  readonly statusMessage?: string | undefined
  /** Milliseconds from now for which the task is stored. Null for ever. */
  readonly lifetimeMs: number | null
  /** True if later changes never prolong the lifetime, for example because the client asked for this one. */
  readonly hasFixedLifetime?: boolean | undefined
  /** Maximum number of tasks, of every status, that the caller may have. */
  readonly callerLimit: number
}

/** A task's public state. */
export interface TaskRow {
  readonly id: string
  readonly status: TaskStatus
  readonly statusMessage: string | undefined
  /** Numbers of the handler's last report of progress. */
  readonly progress: ProgressNumbers | undefined
  /** Milliseconds since 1970, by the engine's clock. */
  readonly createdAt: number
  /** Milliseconds since `createdAt`, by the engine's clock. */
  readonly ageMs: number
  /** Last change of status, status message, progress or requests, in milliseconds since 1970. */
  readonly updatedAt: number
  /** Milliseconds from `createdAt` until the task is deleted. Null if it never is. */
  readonly ttlMs: number | null
  /** Unanswered requests, by key. Empty unless the status is `input_required`. */
  readonly requests: JsonObject
  /** Result of a completed task. */
  readonly result: JsonObject | undefined
  /** Error of a failed task. */
  readonly error: WireError | undefined
}

/** What a task's owner answers. */
export interface TaskAnswers {
  readonly id: string
  readonly owner: string
  /** Answers, by the key of the request. */
  readonly responses: JsonObject
  /** Milliseconds from now for which a resumed task is stored. A longer lifetime is not shortened. */
  readonly lifetimeMs: number | null
}

/**
 * How `answer` ended. `unknown`: the task does not exist, or belongs to another owner. `ignored`: no answer has the key
 * of an open request. `stored`: other requests are still open. `resumed`: the task continues.
 */
export type TaskAnswerOutcome = 'unknown' | 'ignored' | 'stored' | 'resumed'

/**
 * How `cancel` ended. `unknown`: the task does not exist. `notified`: its worker will cancel it. `finished`: it had
 * ended before.
 */
export type CancelOutcome = 'unknown' | 'cancelled' | 'notified' | 'finished'

/**
 * How `revoke` ended. `unknown`: the task does not exist. `waiting`: it waits for its client, so it has no claim.
 * `finished`: it has ended.
 */
export type RevokeOutcome = 'unknown' | 'waiting' | 'finished' | 'revoked'

/** A worker's right to write to a task, until the task ends or is claimed again. */
export interface Lease {
  readonly id: string
  /** Claims of the task so far. If a store loses a commit, two claims may have the same number. */
  readonly attempt: number
  /** A random text that only this claim has. Every write compares it with the stored one. */
  readonly token: string
}

/**
 * What a worker still may do. `owned`: it continues. `cancelling`: the task was cancelled, and the worker must finish
 * it. `lost`: the task has ended or was claimed again, and nothing was written.
 */
export type LeaseState = 'owned' | 'cancelling' | 'lost'

/** A task that a worker has claimed. */
export interface ClaimedTask extends Lease {
  /** Leases that expired since a step was last recorded. */
  readonly failures: number
  /** Milliseconds for which the task was ready, or since its last lease expired. */
  readonly waitedMs: number
  readonly payload: JsonObject
  /**
   * Recorded entries of the journal, at most one for each part and key. An entry without a value records that its
   * member was removed.
   */
  readonly entries: readonly JournalEntry[]
  /** All stored answers, by key. */
  readonly responses: JsonObject
  /** True once the client has cancelled the task. */
  readonly isCancelling: boolean
}

/** How far a handler is, as it reported it (basic/patterns/progress). */
export type ProgressNumbers = {
  readonly progress: number
  readonly total?: number | undefined
}

/** What a worker stores on the way. */
export interface TaskProgress {
  readonly entries: readonly JournalEntry[]
  /** New status message. Undefined leaves the stored one. */
  readonly statusMessage?: string | undefined
  /** New numbers of progress. Undefined leaves the stored ones. */
  readonly progress?: ProgressNumbers | undefined
  /** True if a step was recorded, or a checkpoint with another value, which resets the count of failures. */
  readonly hasProgressed: boolean
}

/** A release: the progress so far, and a pause. */
export interface TaskRelease extends TaskProgress {
  /** Milliseconds for which the task cannot be claimed, although it can be cancelled. Undefined for no pause. */
  readonly pauseMs?: number | undefined
}

/** A wait for the client: the progress so far, and the requests. */
export interface TaskSuspension extends TaskProgress {
  /**
   * Requests to the client, by key. There is at least one. A key of an earlier request may be used again only for the
   * same request, and only if that request is unanswered.
   */
  readonly requests: JsonObject
  /** Milliseconds from now for which the task is stored. A longer lifetime is not shortened. */
  readonly lifetimeMs: number | null
}

/** How a task ended, and how long to store that. */
export interface TaskEnd {
  readonly outcome:
    | { readonly status: 'completed'; readonly result: JsonObject }
    | { readonly status: 'failed'; readonly error: WireError }
    | { readonly status: 'cancelled' }
  /** New status message. Undefined leaves the stored one. */
  readonly statusMessage?: string | undefined
  /** New numbers of progress. Undefined leaves the stored ones. */
  readonly progress?: ProgressNumbers | undefined
  /** Milliseconds from now for which the task is stored. A longer lifetime is not shortened. */
  readonly lifetimeMs: number | null
}

/** What an engine calls. */
export interface EngineListener {
  /** Some task may have become ready. */
  readonly onWork: () => void
  /** A claimed task was cancelled. The claim may belong to another instance. */
  readonly onCancel: (id: string) => void
}

/**
 * Where a task is that has not ended. `ready`: it can be claimed. `running`: it is claimed. `paused`: it becomes ready
 * after a pause. `waiting`: it waits for its client.
 */
export type OpenTaskState = 'ready' | 'running' | 'paused' | 'waiting'

/** A task in an operator's list: without arguments, requests and results. */
export interface TaskSummary extends Pick<TaskRow, 'id' | 'status' | 'statusMessage' | 'createdAt' | 'updatedAt'> {
  readonly owner: string
  /** Name of the tool that the task runs. */
  readonly tool: string
  /** Undefined for a task that has ended. */
  readonly state: OpenTaskState | undefined
  readonly attempt: number
  readonly failures: number
  /** Name of the worker that has the current claim. */
  readonly worker: string | undefined
  /** Milliseconds until the pause or the lease ends. A negative number says how long the task has been ready. */
  readonly dueInMs: number | undefined
}

/** A task as operators see it, with its requests and its outcome. */
export type InspectedTask = TaskRow & Omit<TaskSummary, keyof TaskRow>

/** Which tasks an operator wants to see. An absent member excludes no task. */
export interface TaskFilter {
  readonly status?: TaskStatus | undefined
  readonly tool?: string | undefined
  readonly owner?: string | undefined
  /** Least age, in milliseconds since creation. */
  readonly olderThanMs?: number | undefined
  /** Least number of failures since the last recorded step or checkpoint. */
  readonly minFailures?: number | undefined
  /** Maximum number of tasks on a page, from 1 to 1000. */
  readonly limit: number
  /** From the previous page: its `nextCursor`. */
  readonly cursor?: string | undefined
}

/** A page of tasks, and the cursor of the next page if there is one. */
export interface TaskPage {
  readonly tasks: readonly TaskSummary[]
  readonly nextCursor?: string | undefined
}

/** How many tasks of one tool are in one state. Tasks that have ended are not counted. */
export interface TaskCount {
  readonly tool: string
  readonly status: TaskStatus
  readonly state: OpenTaskState
  readonly count: number
  /**
   * Greatest age of these tasks, in milliseconds: since they became ready in the state `ready`, and otherwise since
   * their creation.
   */
  readonly oldestAgeMs: number
}
