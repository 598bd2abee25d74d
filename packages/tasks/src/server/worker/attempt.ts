import { type Clock, sleep, startBackgroundTimer } from '@x/core'
import type { ServerEvents, JournalEntry, JournalStore } from '@x/exchange'
import { createSuspension } from '@x/exchange/internal'
import { isJsonObject, type JsonObject, type WireError } from '@x/schema'
import type { ClaimedTask, LeaseState, ProgressNumbers, TaskProgress } from '../../engines/engine.ts'
import type { TaskContext } from '../options.ts'
import type { RunOutcome } from '../task-runner.ts'
import type { WorkerEngine } from './bounded-engine.ts'
import { createResetEntries } from './requeue.ts'
import { entryNameOf, JournalSize } from './size-limits.ts'

/** Calls of this `engine` have a time limit. */
export interface WorkerContext extends TaskContext {
  readonly engine: WorkerEngine
}

type AttemptEnd = ServerEvents['attempt_ended']['end']

/** Why an attempt stops before its call has an outcome. */
export type AttemptStop =
  /** Another worker has claimed the task, or it has ended. */
  | { readonly kind: 'lost' }
  /** Too large a journal. The task fails with this error. */
  | { readonly kind: 'too_large'; readonly error: WireError }
  | { readonly kind: 'cancelled' }
  /** Other instances may continue the task. */
  | { readonly kind: 'released' }

/**
 * If several reasons apply, the highest rank counts. `lost` is first, because nothing may be written for a lost task;
 * `too_large` second, because such a task cannot be continued.
 */
const stopRanks: Readonly<Record<AttemptStop['kind'], number>> = { lost: 4, too_large: 3, cancelled: 2, released: 1 }

const stopMessages: Readonly<Record<AttemptStop['kind'], string>> = {
  lost: 'The task has ended, or continues at another instance',
  cancelled: 'The task was cancelled',
  released: 'The task continues at another instance, because this process stops',
  too_large: 'The task has recorded more than its limit',
}

/** Where the task continues elsewhere, its handler must not undo anything, so the signal's reason is a suspension. */
function createStopError({ kind }: AttemptStop): Error {
  const message = stopMessages[kind]
  return kind === 'lost' || kind === 'released' ? createSuspension(message) : new DOMException(message, 'AbortError')
}

/** A handler that saves the value of an earlier attempt again may be where its process died. */
function isNewCheckpoint({ member, key = '', value }: JournalEntry, { checkpoints }: JsonObject): boolean {
  if (member !== 'checkpoints') return false
  return !isJsonObject(checkpoints) || JSON.stringify(checkpoints[key]) !== JSON.stringify(value)
}

const runOutcomes: Readonly<Record<AttemptEnd, Exclude<RunOutcome['status'], 'busy' | 'unknown'> | undefined>> = {
  completed: 'ended',
  failed: 'ended',
  cancelled: 'ended',
  suspended: 'waiting',
  released: 'released',
  requeued: 'released',
  lost: undefined,
}

/** Milliseconds after which a status message is written if no journal entry is committed before. */
const messageIntervalMs = 500

const maxMessageLength = 1000

const firstRetryPauseMs = 100
const longestRetryPauseMs = 5000

/** One run of a task, from its claim to the end of the claim. */
export class Attempt {
  readonly task: ClaimedTask
  readonly context: WorkerContext
  /** Aborts when the worker closes. A write that fails after that is not repeated. */
  readonly #abandonSignal: AbortSignal
  readonly #controller = new AbortController()
  readonly #journalSize: JournalSize
  #unrecordedEntries: JournalEntry[] = []
  /**
   * What this attempt has stored. A store that came back with less may have lost it, while the claim is in it. Bounded by
   * `maxJournalBytes`.
   */
  readonly #takenEntries = new Map<string, JournalEntry>()
  #lastStatusMessage: string | undefined
  #lastProgress: ProgressNumbers | undefined
  #hasProgressed = false
  /** Settles with the last write; each begins after the one before. */
  #pendingWrites: Promise<void> = Promise.resolve()
  #writeStartedAt: number | undefined
  #messageTimer: unknown
  #isReleasing = false
  #stopReason: AttemptStop | undefined
  #isFinished = false
  #end: AttemptEnd = 'lost'

  constructor(task: ClaimedTask, context: WorkerContext, abandonSignal: AbortSignal) {
    this.task = task
    this.context = context
    this.#abandonSignal = abandonSignal
    this.#journalSize = new JournalSize(task)
  }

  /** Aborts when the handler should stop. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Reason with the highest rank so far. */
  get stopReason(): AttemptStop | undefined {
    return this.#stopReason
  }

  /** True once the claim has ended. Nothing more is written then. */
  get isFinished(): boolean {
    return this.#isFinished
  }

  /** What was stored as the end. `lost` if nothing was. */
  get end(): AttemptEnd {
    return this.#end
  }

  /** Undefined before the write that ended the claim, and if the claim was lost. */
  get runOutcome(): (typeof runOutcomes)[AttemptEnd] {
    return runOutcomes[this.#end]
  }

  get journalBytes(): number {
    return this.#journalSize.totalBytes
  }

  /** True if the current write has run for longer than `maxMs`. */
  isWriteStuck(maxMs: number): boolean {
    return this.#writeStartedAt !== undefined && this.#clock.monotonicNow() - this.#writeStartedAt > maxMs
  }

  /** Stops the handler. Of several reasons, the attempt stores the one with the highest rank. */
  stop(reason: AttemptStop): void {
    if (this.#isFinished) return
    if (this.#stopReason === undefined || stopRanks[reason.kind] > stopRanks[this.#stopReason.kind])
      this.#stopReason = reason
    this.#controller.abort(createStopError(reason))
  }

  /** Stops if the lease is lost or the task is cancelled. */
  applyLeaseState(state: LeaseState): void {
    if (state === 'lost') this.stop({ kind: 'lost' })
    if (state === 'cancelling') this.stop({ kind: 'cancelled' })
  }

  /** Releases the task at the end of its current step. */
  requestRelease(): void {
    this.#isReleasing = true
  }

  /** From here on nothing more is written. */
  endClaim(): void {
    this.#isFinished = true
    this.#clock.clearTimeout(this.#messageTimer)
  }

  setStoredEnd(end: Exclude<AttemptEnd, 'lost'>): void {
    this.#end = end
  }

  /** Resolves when the writes so far have settled. Rejects if one of them failed. */
  waitForWrites(): Promise<void> {
    return this.#pendingWrites
  }

  /** Stores the task's journal. Commits that wait for a running write are all stored by the next one. */
  createJournalStore(journal: JsonObject): JournalStore {
    return {
      journal,
      responses: this.task.responses,
      append: (entry) => {
        // An instance that records an entry supports the task, so the count of requeues is reset.
        if (this.#unrecordedEntries.length === 0) this.#unrecordedEntries.push(...createResetEntries(this.task))
        this.#unrecordedEntries.push(entry)
        if (entry.member === 'steps' || isNewCheckpoint(entry, journal)) this.#hasProgressed = true
      },
      commit: () => {
        if (this.#stopReason !== undefined) return Promise.reject(this.signal.reason)
        if (this.#unrecordedEntries.length === 0 && !this.#isReleasing) return undefined
        return this.#commitJournal()
      },
    }
  }

  /**
   * Adds entries to the size of the journal. If that becomes too large, the attempt stops with the returned error, and
   * no later progress is written.
   */
  stopIfTooLarge({ entries }: TaskProgress): WireError | undefined {
    if (this.#stopReason?.kind === 'too_large') return this.#stopReason.error
    const error = this.#journalSize.add(entries)
    if (error !== undefined) this.stop({ kind: 'too_large', error })
    return error
  }

  /**
   * Takes what is not stored yet. With `isWhole`, it has all entries of the attempt: the answers to a question must
   * never meet a journal that has the question and not the step before it. The step would run again, with other answers
   * and so with another idempotency key.
   */
  takeProgress(isWhole = false): TaskProgress {
    const newEntries = new Map(this.#unrecordedEntries.map((entry) => [entryNameOf(entry), entry]))
    for (const [name, entry] of newEntries) this.#takenEntries.set(name, entry)
    const entries = [...(isWhole ? this.#takenEntries : newEntries).values()]
    const hasProgressed = this.#hasProgressed
    const statusMessage = this.#lastStatusMessage
    const progress = this.#lastProgress
    this.#unrecordedEntries = []
    this.#lastStatusMessage = undefined
    this.#lastProgress = undefined
    this.#hasProgressed = false
    return {
      entries,
      hasProgressed,
      ...(statusMessage !== undefined && { statusMessage }),
      ...(progress && { progress }),
    }
  }

  /**
   * A report of progress becomes the task's status message and numbers. They are stored with the next commit, or after
   * half a second (seps/2663-tasks-extension, tasks).
   */
  setLastProgress(params: JsonObject | undefined): void {
    const { progress, total, message } = params ?? {}
    const text = typeof message === 'string' ? message : total === undefined ? `${progress}` : `${progress} of ${total}`
    this.#lastStatusMessage = text.slice(0, maxMessageLength)
    if (typeof progress === 'number') this.#lastProgress = { progress, ...(typeof total === 'number' && { total }) }
    this.#messageTimer ??= startBackgroundTimer(
      this.#clock,
      () => {
        this.#messageTimer = undefined
        void this.#writeProgress()
      },
      messageIntervalMs,
    )
  }

  /**
   * Repeats a write until it succeeds, so that a short outage of the database does not cost a task its progress.
   * Repeating is safe, because every write names the token of the claim. Undefined if a write fails after the worker
   * has closed. `onRepeated` is called when a repeated write has succeeded; its value may be wrong, because an earlier
   * repetition may already have changed the task.
   */
  async retryWrite<T>(write: () => Promise<T>, onRepeated: () => void = () => {}): Promise<T | undefined> {
    this.#writeStartedAt = this.#clock.monotonicNow()
    try {
      return await this.#repeatUntilDone(write, onRepeated)
    } finally {
      this.#writeStartedAt = undefined
    }
  }

  get #clock(): Clock {
    return this.context.settings.clock
  }

  async #commitJournal(): Promise<void> {
    await this.#writeProgress()
    if (this.#isReleasing) this.stop({ kind: 'released' })
    this.signal.throwIfAborted()
  }

  #writeProgress(): Promise<void> {
    const { engine, taskChanges } = this.context
    this.#pendingWrites = this.#pendingWrites.then(async () => {
      const progress = this.takeProgress()
      if (this.#isFinished || (progress.entries.length === 0 && progress.statusMessage === undefined)) return
      if (this.stopIfTooLarge(progress) !== undefined) return
      const state = await this.retryWrite(() => engine.record(this.task, progress))
      this.applyLeaseState(state ?? 'lost')
      if (progress.statusMessage !== undefined) taskChanges.notifyChange(this.task.id)
    })
    return this.#pendingWrites
  }

  async #repeatUntilDone<T>(write: () => Promise<T>, onRepeated: () => void): Promise<T | undefined> {
    const signal = this.#abandonSignal
    for (let pauseMs = firstRetryPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestRetryPauseMs)) {
      try {
        const value = await write()
        if (pauseMs > firstRetryPauseMs) onRepeated()
        return value
      } catch (error) {
        this.context.settings.onError(error, { taskId: this.task.id })
        if (signal.aborted) return undefined
        await sleep(pauseMs, { clock: this.#clock, signal, isBackground: true }).catch(() => {})
      }
    }
  }
}
