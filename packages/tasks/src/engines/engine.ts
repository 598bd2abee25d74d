import type { JournalEntry, JsonObject, WireError } from '@x/schema'
import type { ChangeBus } from '@x/core'
import type { TaskStatus } from '../schema/task.ts'

/**
 * Keeps tasks, and gives them out to workers: what makes a task survive. One engine is shared by all instances of a
 * fleet, each of which has an object of this kind of its own.
 *
 * Every function is one transaction: what it did is there for every instance when it resolves, and nothing is there
 * when it rejects because the engine could not be reached (or all of it, when only the answer was lost). Values go in
 * and come out as copies. Time is the engine's own: no instance's clock is compared with another's.
 *
 * A task whose time has run out does not exist any more for any of these functions, whether it was swept or not.
 */
export interface TaskEngine {
  /**
   * For how many milliseconds a claim is good after it was made or its last heartbeat. Then another worker may have the
   * task.
   */
  readonly leaseMs: number
  /**
   * Carries news between the instances that share the engine, so that a stream at one of them receives the events of
   * another. The engine's own notifications do not use it. Absent where an engine cannot: then news stay where they are
   * made, unless the extension `tasks` is given a bus.
   */
  readonly notifications?: ChangeBus | undefined
  /**
   * Makes a task, with status `working`, ready to be claimed, and wakes the workers that listen. Gives `full` instead
   * when the caller has `callerLimit` tasks that have not ended. Rejects when there is a task of this id.
   */
  create(task: NewTask): Promise<TaskRow | 'full'>
  /** A task of this owner: one row, nothing is written. Undefined when there is none, or it is another's. */
  get(id: string, owner: string): Promise<TaskRow | undefined>
  /**
   * Keeps answers to what is asked, each the first time that it comes. Every other key is ignored. What is answered is
   * not among the row's requests any more. With the last answer the task is `working` and ready to be claimed, and
   * listening workers are woken: of several who bring answers at the same time one alone gets `resumed`.
   */
  answer(answers: TaskAnswers): Promise<TaskAnswerOutcome>
  /**
   * Cancels a task: one without a worker at once, one that is claimed by notifying its worker, through `listen` at
   * once and through everything else that the worker does. One that has ended stays as it is.
   */
  cancel(id: string, owner: string): Promise<CancelOutcome>
  /**
   * Takes up to `maxClaims` tasks that are ready, the oldest first, or whose worker's lease has run out, for this
   * worker alone: its attempt is one higher than any before.
   */
  claim(maxClaims: number): Promise<readonly ClaimedTask[]>
  /**
   * Renews leases, and returns the state of each, in the same order. One that ran out is renewed if no worker took the
   * task.
   */
  heartbeat(leases: readonly Lease[]): Promise<readonly LeaseState[]>
  /** Keeps entries of the journal and the status message. `owned` and `cancelling` mean that they are kept. */
  record(lease: Lease, progress: TaskProgress): Promise<LeaseState>
  /**
   * Ends the claim, because the client has to answer: the task is `input_required`, with no failures counted.
   * `cancelling` means that nothing was written and the task is still this worker's, to be finished.
   */
  suspend(lease: Lease, suspension: TaskSuspension): Promise<LeaseState>
  /**
   * Ends the claim for the task to be claimed again, with no failure counted: at once, and listening workers are woken,
   * or after a pause, until which no worker may claim it. `cancelling` is as in `suspend`.
   */
  release(lease: Lease, taskRelease: TaskRelease): Promise<LeaseState>
  /** Ends the task, for good. False when it was not this worker's any more: then nothing was written. */
  finish(lease: Lease, taskEnd: TaskEnd): Promise<boolean>
  /** Deletes some of the tasks whose time has run out, with all that belongs to them, and returns their number. */
  deleteExpiredTasks(): Promise<number>
  /**
   * Notifies of work and of cancellations, as soon as may be. What is lost costs time only, because workers look by
   * themselves as well. Resolves with the function that ends it. Rejects when the engine cannot be reached.
   */
  listen(listener: EngineListener): Promise<() => void>
  /**
   * Returns a task of any owner: one row, nothing is written. For operators, and never for a caller. Undefined when
   * there is none.
   */
  inspect(id: string): Promise<TaskRow | undefined>
  /**
   * Resolves when the storage answers, after opening it where that was not done before. Rejects when it cannot be
   * reached.
   */
  ping(): Promise<void>
  /**
   * Lets go of everything that the engine holds open for this instance. Tasks stay, unless they were in this process
   * alone.
   */
  close(): Promise<void>
}

/** A task to be made. */
export interface NewTask {
  /** Made by the caller, of at least 128 bits of chance. */
  readonly id: string
  /** The owner, as the same text for the same principal. */
  readonly owner: string
  /**
   * The key of the caller who makes it, by which `callerLimit` counts. Tasks of callers without a principal have one
   * owner, and a caller for each address.
   */
  readonly caller: string
  /** The data that a worker needs to run the task. The engine only stores it. */
  readonly payload: JsonObject
  readonly statusMessage?: string | undefined
  /** For how many milliseconds from now the task is kept at least. Null without end. */
  readonly lifetimeMs: number | null
  /** True when later changes never prolong the lifetime, as where the client asked for it. */
  readonly hasFixedLifetime?: boolean | undefined
  readonly callerLimit: number
}

/** The public state of a task. */
export interface TaskRow {
  readonly id: string
  readonly status: TaskStatus
  readonly statusMessage: string | undefined
  /** The numbers that its handler reported last. */
  readonly progress: ProgressNumbers | undefined
  /** Milliseconds since 1970, of the engine's clock. */
  readonly createdAt: number
  /** Milliseconds since `createdAt`, of the engine's clock. */
  readonly ageMs: number
  /** When status, status message, progress, or what is asked last changed. Milliseconds since 1970. */
  readonly updatedAt: number
  /** Milliseconds from `createdAt` for which the task is kept. Null without end. */
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
  /**
   * For how many milliseconds from now the task is kept at least, if it continues with these. It is never kept for less
   * than before.
   */
  readonly lifetimeMs: number | null
}

/**
 * `unknown`: there is no such task of this owner. `ignored`: nothing of it was asked. `stored`: some was, and more is
 * to be answered. `resumed`: the task continues.
 */
export type TaskAnswerOutcome = 'unknown' | 'ignored' | 'stored' | 'resumed'

/**
 * `unknown`: there is no such task of this owner. `notified`: its worker will see to it. `finished`: it had ended
 * before.
 */
export type CancelOutcome = 'unknown' | 'cancelled' | 'notified' | 'finished'

/** The right to write to a task: good until another worker has claimed it, or the task has ended. */
export interface Lease {
  readonly id: string
  /** Fences every write: one of an attempt that is not the last changes nothing. */
  readonly attempt: number
}

/**
 * Status of a worker's lease. `owned`: continue. `cancelling`: the client wants no result any more. Stop, and finish
 * the task. `lost`: the task has ended, or is another worker's. Nothing was written, and nothing will be.
 */
export type LeaseState = 'owned' | 'cancelling' | 'lost'

/** A task that a worker has claimed. */
export interface ClaimedTask extends Lease {
  /** Number of leases that expired since a step was last recorded. */
  readonly failures: number
  readonly payload: JsonObject
  /** The recorded entries: at most the last one for each part and key. An entry without a value removed its member. */
  readonly entries: readonly JournalEntry[]
  /** Every answer that was ever kept, by key. */
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
  /** For how many milliseconds no worker may claim it, undefined for none. It may be cancelled meanwhile. */
  readonly pauseMs?: number | undefined
}

/** The progress of a task that waits for answers, and its requests. */
export interface TaskSuspension extends TaskProgress {
  /**
   * The requests to the client, by key. A key of an earlier request may be used again only for the same, unanswered
   * request.
   */
  readonly requests: JsonObject
  /** For how many milliseconds from now the task is kept at least. It is never kept for less than before. */
  readonly lifetimeMs: number | null
}

/** The end of a task. */
export interface TaskEnd {
  readonly outcome:
    | { readonly status: 'completed'; readonly result: JsonObject }
    | { readonly status: 'failed'; readonly error: WireError }
    | { readonly status: 'cancelled' }
  /** Undefined removes the stored value. */
  readonly statusMessage?: string | undefined
  /** For how many milliseconds from now the task is kept at least. It is never kept for less than before. */
  readonly lifetimeMs: number | null
}

/** The listener of an engine. */
export interface EngineListener {
  /** There may be work to claim. */
  readonly onWork: () => void
  /** A claimed task is to be cancelled. It may be another instance's. */
  readonly onCancel: (id: string) => void
}
