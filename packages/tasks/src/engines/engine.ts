import type { JournalEntry, JsonObject, WireError } from '@x/schema'
import type { ChangeBus } from '@x/core'
import type { TaskStatus } from '../schema/task.ts'

/**
 * Stores tasks and gives them to workers, so that a task survives its process. All instances of a fleet share one
 * store, each through an object of this kind of its own.
 *
 * Every function is one transaction. When it resolves, its effect is visible to every instance. When it rejects because
 * the store is unreachable, it had no effect, or all of it when only the answer was lost. Values are copied in both
 * directions. Time is the store's: clocks of instances are never compared.
 *
 * A task whose lifetime is over does not exist for any of these functions, deleted or not.
 */
export interface TaskEngine {
  /** Milliseconds for which a claim is valid after it was made or renewed. Then another worker may claim the task. */
  readonly leaseMs: number
  /**
   * Carries changes of tasks between the instances that share the store. Absent where an engine cannot: then the bus of
   * the server does. Without one an instance streams its own changes only, and clients see those of others with their
   * polls.
   */
  readonly notifications?: ChangeBus | undefined
  /**
   * Creates a task with the status `working`, ready to be claimed, and notifies the workers. A caller that has
   * `callerLimit` tasks, of any status, loses the oldest one that has ended. Resolves with `full` when none of them has
   * ended. Rejects when the id is in use.
   */
  create(task: NewTask): Promise<TaskRow | 'full'>
  /** Reads a task of an owner. Undefined when there is none, or it belongs to another owner. */
  get(id: string, owner: string): Promise<TaskRow | undefined>
  /**
   * Stores answers to open requests, and ignores every other key. An answered request is removed from the row. With the
   * last answer the task is `working` and ready to be claimed, and the workers are notified. Of several answers at the
   * same time one alone gets `resumed`.
   */
  answer(answers: TaskAnswers): Promise<TaskAnswerOutcome>
  /**
   * Cancels a task: at once if it is not claimed, otherwise by its worker, which is notified through `listen` and by
   * the result of its next write. Without an owner, for operators, of any owner.
   */
  cancel(id: string, owner?: string): Promise<CancelOutcome>
  /**
   * Claims ready tasks for this worker alone, in the order in which they became ready, and those whose lease has
   * expired. Each claim has a new token and a higher attempt.
   */
  claim(request: ClaimRequest): Promise<Claims>
  /**
   * Renews leases and returns the state of each, in the same order. An expired lease without another claim is renewed.
   */
  heartbeat(leases: readonly Lease[]): Promise<readonly LeaseState[]>
  /** Stores entries of the journal and the status message. It has done so for `owned` and `cancelling`. */
  record(lease: Lease, progress: TaskProgress): Promise<LeaseState>
  /**
   * Ends the claim of a task that waits for its client: it is `input_required`, with no failures counted. `cancelling`
   * means that nothing was written and that this worker has to finish the task.
   */
  suspend(lease: Lease, suspension: TaskSuspension): Promise<LeaseState>
  /**
   * Ends the claim of a task that is to be claimed again, with no failure counted: at once, and the workers are
   * notified, or after a pause. `cancelling` is as in `suspend`.
   */
  release(lease: Lease, taskRelease: TaskRelease): Promise<LeaseState>
  /**
   * Ends a task, and deletes its payload, journal and answers. False when the claim was not valid any more: then
   * nothing was written.
   */
  finish(lease: Lease, taskEnd: TaskEnd): Promise<boolean>
  /** Deletes some of the tasks whose lifetime is over, and returns their number. */
  deleteExpiredTasks(): Promise<number>
  /**
   * Notifies of work and of cancellations. A lost notification costs time only, because workers poll as well. Resolves
   * with the function that ends it. Rejects when the store is unreachable.
   */
  listen(listener: EngineListener): Promise<() => void>
  /** Reads a task of any owner, for operators. Undefined when there is none. */
  inspect(id: string): Promise<InspectedTask | undefined>
  /** Ends the claim of a task, resets its failures and makes it ready, for operators. */
  revoke(id: string): Promise<RevokeOutcome>
  /** Lists tasks, the newest first, for operators. */
  list(filter: TaskFilter): Promise<TaskPage>
  /** Counts tasks by tool and state, for operators. */
  count(): Promise<readonly TaskCount[]>
  /** Resolves when the store answers. Opens it first where that was not done. Rejects when it is unreachable. */
  ping(): Promise<void>
  /** Closes everything that the engine holds open for this instance. The tasks stay, unless they were in memory. */
  close(): Promise<void>
}

/** The tasks that a worker wants. */
export interface ClaimRequest {
  readonly maxClaims: number
  /** Claims this task alone, if it is ready. */
  readonly id?: string | undefined
  /** The name of the worker that operators see: its host and process. */
  readonly worker?: string | undefined
}

/** The tasks that a worker got. */
export interface Claims {
  readonly tasks: readonly ClaimedTask[]
  /** Milliseconds until the next pause or lease ends. Undefined when no task waits for time. */
  readonly nextDueMs: number | undefined
}

/** A task to be created. */
export interface NewTask {
  /** A text that cannot be guessed, of at least 128 random bits. */
  readonly id: string
  /** The owner, as the same text for the same principal. */
  readonly owner: string
  /**
   * The key of the caller, by which `callerLimit` counts. Tasks of callers without a principal have one owner, and a
   * caller for each address.
   */
  readonly caller: string
  /** The name of the tool that the task runs, for operators. */
  readonly tool: string
  /** The data that a worker needs to run the task. The engine only stores it. */
  readonly payload: JsonObject
  readonly statusMessage?: string | undefined
  /** Milliseconds from now for which the task is kept. Null without end. */
  readonly lifetimeMs: number | null
  /** True when later changes never prolong the lifetime, as where the client asked for it. */
  readonly hasFixedLifetime?: boolean | undefined
  /** Tasks of every status that the caller may have. */
  readonly callerLimit: number
}

/** The public state of a task. */
export interface TaskRow {
  readonly id: string
  readonly status: TaskStatus
  readonly statusMessage: string | undefined
  /** The numbers of the last report of its handler. */
  readonly progress: ProgressNumbers | undefined
  /** Milliseconds since 1970, of the engine's clock. */
  readonly createdAt: number
  /** Milliseconds since `createdAt`, of the engine's clock. */
  readonly ageMs: number
  /** The time of the last change of status, status message, progress or requests, in milliseconds since 1970. */
  readonly updatedAt: number
  /** Milliseconds from `createdAt` until the task is deleted. Null for never. */
  readonly ttlMs: number | null
  /** The unanswered requests, by key. Empty unless the status is `input_required`. */
  readonly requests: JsonObject
  /** The result of a completed task. */
  readonly result: JsonObject | undefined
  /** The error of a failed task. */
  readonly error: WireError | undefined
}

/** Answers of the owner. */
export interface TaskAnswers {
  readonly id: string
  readonly owner: string
  /** By key. */
  readonly responses: JsonObject
  /** Milliseconds from now for which a resumed task is kept. A lifetime is never shortened. */
  readonly lifetimeMs: number | null
}

/**
 * `unknown`: this owner has no such task. `ignored`: no key is of an open request. `stored`: other requests are still
 * open. `resumed`: the task continues.
 */
export type TaskAnswerOutcome = 'unknown' | 'ignored' | 'stored' | 'resumed'

/** `unknown`: there is no such task. `notified`: its worker will cancel it. `finished`: it had ended before. */
export type CancelOutcome = 'unknown' | 'cancelled' | 'notified' | 'finished'

/** `unknown`: there is no such task. `waiting`: it waits for its client, and has no claim. `finished`: it has ended. */
export type RevokeOutcome = 'unknown' | 'waiting' | 'finished' | 'revoked'

/** The right to write to a task, until another claim of it or its end. */
export interface Lease {
  readonly id: string
  /** The number of claims so far. Two claims may have the same one when a store loses a commit. */
  readonly attempt: number
  /** A random text of this claim alone. Every write compares it. */
  readonly token: string
}

/**
 * The state of a lease. `owned`: the worker continues. `cancelling`: the task was cancelled, and the worker has to
 * finish it. `lost`: the task has ended or has another claim, and nothing was written.
 */
export type LeaseState = 'owned' | 'cancelling' | 'lost'

/** A task that a worker has claimed. */
export interface ClaimedTask extends Lease {
  /** Number of leases that expired since a step was last recorded. */
  readonly failures: number
  readonly payload: JsonObject
  /** The recorded entries: at most the last one for each part and key. An entry without a value removed its member. */
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

/** The progress of a run that is to be stored. */
export interface TaskProgress {
  readonly entries: readonly JournalEntry[]
  /** Undefined leaves it as it is. */
  readonly statusMessage?: string | undefined
  /** Undefined leaves it as it is. */
  readonly progress?: ProgressNumbers | undefined
  /** True when a step was recorded, which resets the count of failures. */
  readonly hasProgressed: boolean
}

/** The progress of a task that is released, and its pause. */
export interface TaskRelease extends TaskProgress {
  /** Milliseconds for which the task cannot be claimed. Undefined for none. It can be cancelled meanwhile. */
  readonly pauseMs?: number | undefined
}

/** The progress of a task that waits for answers, and its requests. */
export interface TaskSuspension extends TaskProgress {
  /**
   * The requests to the client, by key. A key of an earlier request may be used again only for the same, unanswered
   * request.
   */
  readonly requests: JsonObject
  /** Milliseconds from now for which the task is kept. A lifetime is never shortened. */
  readonly lifetimeMs: number | null
}

/** The end of a task. */
export interface TaskEnd {
  readonly outcome:
    | { readonly status: 'completed'; readonly result: JsonObject }
    | { readonly status: 'failed'; readonly error: WireError }
    | { readonly status: 'cancelled' }
  /** Undefined removes the message. */
  readonly statusMessage?: string | undefined
  /** Undefined leaves it as it is. */
  readonly progress?: ProgressNumbers | undefined
  /** Milliseconds from now for which the task is kept. A lifetime is never shortened. */
  readonly lifetimeMs: number | null
}

/** The listener of an engine. */
export interface EngineListener {
  /** A task may have become ready. */
  readonly onWork: () => void
  /** A claimed task was cancelled. Its claim may be another instance's. */
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
  /** The name of the tool that it runs. */
  readonly tool: string
  /** Undefined for a task that has ended. */
  readonly state: OpenTaskState | undefined
  readonly attempt: number
  readonly failures: number
  /** The worker of the present claim. */
  readonly worker: string | undefined
  /** Milliseconds until the pause or the lease ends, and below 0 since the task became ready. */
  readonly dueInMs: number | undefined
}

/** A task as operators see it. */
export interface InspectedTask extends TaskRow, Omit<TaskSummary, keyof TaskRow> {}

/** The tasks that an operator wants to see. An absent member selects every task. */
export interface TaskFilter {
  readonly status?: TaskStatus | undefined
  readonly tool?: string | undefined
  readonly owner?: string | undefined
  /** Tasks that were created at least so many milliseconds ago. */
  readonly olderThanMs?: number | undefined
  /** Tasks with so many failures since their last recorded step. */
  readonly minFailures?: number | undefined
  /** The number of tasks of a page. */
  readonly limit: number
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** A page of tasks, and the cursor of the next page if there is one. */
export interface TaskPage {
  readonly tasks: readonly TaskSummary[]
  readonly nextCursor?: string | undefined
}

/** The number of tasks of one tool in one state. */
export interface TaskCount {
  readonly tool: string
  readonly status: TaskStatus
  /** Undefined for tasks that have ended. */
  readonly state: OpenTaskState | undefined
  readonly count: number
  /** Milliseconds since the oldest of them became ready, or, in another state than `ready`, since it was created. */
  readonly oldestAgeMs: number
}
