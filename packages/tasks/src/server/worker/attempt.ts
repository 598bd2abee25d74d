import { sleep, startBackgroundTimer } from '@x/core'
import type { ServerEvents, JournalEntry, JournalStore } from '@x/exchange'
import { type JsonObject, metaKeys, type WireError } from '@x/schema'
import type { ClaimedTask, LeaseState, ProgressNumbers, TaskProgress } from '../../engines/engine.ts'
import type { TaskContext } from '../options.ts'
import type { WorkerEngine } from './bounded-engine.ts'
import { createResetEntries } from './requeue.ts'
import { addToJournalSize, type JournalSize, measureJournalSize } from './size-limits.ts'

/** The context of a worker. The calls of its `engine` have a time limit. */
export interface WorkerContext extends TaskContext {
  readonly engine: WorkerEngine
}

type AttemptEnd = ServerEvents['attempt_ended']['end']

/** The reason why an attempt stops before its call has an outcome. */
export type AttemptStop =
  /** Another worker has claimed the task, or the task has ended. */
  | { readonly kind: 'lost' }
  /** The journal of the task would be too large. The task fails with this error. */
  | { readonly kind: 'too_large'; readonly error: WireError }
  | { readonly kind: 'cancelled' }
  /** The task is released for other instances. */
  | { readonly kind: 'released' }

/**
 * The ranks of the reasons. If several reasons apply, the one with the highest rank counts. `lost` is first, because
 * nothing may be written for a lost task. `too_large` is second, because such a task cannot be continued.
 */
const stopRanks: Readonly<Record<AttemptStop['kind'], number>> = { lost: 4, too_large: 3, cancelled: 2, released: 1 }

/** One run of a task, from its claim to the end of the claim. */
export interface Attempt {
  readonly task: ClaimedTask
  /** Aborts the handler. */
  readonly controller: AbortController
  /** Aborts when the worker closes. A write that fails after that is not repeated. */
  readonly abandonSignal: AbortSignal
  readonly journalSize: JournalSize
  unrecordedEntries: JournalEntry[]
  lastStatusMessage: string | undefined
  /** The numbers of the last report of progress that is not stored yet. */
  lastProgress: ProgressNumbers | undefined
  /** True if a step was recorded since the last write. */
  hasProgressed: boolean
  /** A promise that settles with the last write. Each write begins after the write before. */
  pendingWrites: Promise<void>
  /** The monotonic time at which the current write began. Undefined if no write is running. */
  writeStartedAt: number | undefined
  messageTimer: unknown
  /** True if the task is to be released at the end of its current step. */
  isReleasing: boolean
  /** The reason with the highest rank so far. */
  stop: AttemptStop | undefined
  /** True once the claim has ended. Then nothing more is written. */
  isFinished: boolean
  /** The effect of the write that ended the claim. Undefined before it, and if the claim was lost. */
  end: 'ended' | 'waiting' | 'released' | undefined
  /** The end that was stored, for its event. `lost` if nothing was stored. */
  storedEnd: AttemptEnd
}

/** Creates the attempt of a claimed task. */
export function openAttempt(task: ClaimedTask, abandonSignal: AbortSignal): Attempt {
  return {
    task,
    controller: new AbortController(),
    abandonSignal,
    journalSize: measureJournalSize(task),
    unrecordedEntries: [],
    lastStatusMessage: undefined,
    lastProgress: undefined,
    hasProgressed: false,
    pendingWrites: Promise.resolve(),
    writeStartedAt: undefined,
    messageTimer: undefined,
    isReleasing: false,
    stop: undefined,
    isFinished: false,
    storedEnd: 'lost',
    end: undefined,
  }
}

/** Stops the handler. Of several reasons, the attempt stores the one with the highest rank. */
export function stopAttempt(attempt: Attempt, stop: AttemptStop): void {
  if (attempt.isFinished) return
  if (attempt.stop === undefined || stopRanks[stop.kind] > stopRanks[attempt.stop.kind]) attempt.stop = stop
  attempt.controller.abort(new DOMException(stopMessages[stop.kind], 'AbortError'))
}

const stopMessages: Readonly<Record<AttemptStop['kind'], string>> = {
  lost: 'The task has ended, or continues at another instance',
  cancelled: 'The task was cancelled',
  released: 'The task continues at another instance, because this process stops',
  too_large: 'The task has recorded more than its limit',
}

/** Releases the task of an attempt at the end of its current step. */
export function requestRelease(attempt: Attempt): void {
  attempt.isReleasing = true
}

/** Marks the claim as ended, so that nothing more is written. */
export function endClaim(attempt: Attempt): void {
  attempt.isFinished = true
}

/** Notes the end of an attempt. `isStored` is false if the write came too late. */
export function setAttemptEnd(attempt: Attempt, end: AttemptEnd, isStored: boolean): void {
  attempt.storedEnd = isStored ? end : 'lost'
}

/**
 * Creates the store of an attempt's journal. If several commits wait for a running write, the next write stores the
 * entries of all of them.
 */
export function createJournalStore(attempt: Attempt, journal: JsonObject, context: WorkerContext): JournalStore {
  return {
    journal,
    responses: attempt.task.responses,
    append: (entry) => {
      // An instance that records an entry supports the task, so the count of requeues is reset.
      if (attempt.unrecordedEntries.length === 0) attempt.unrecordedEntries.push(...createResetEntries(attempt.task))
      attempt.unrecordedEntries.push(entry)
      if (entry.member === 'steps') attempt.hasProgressed = true
    },
    commit: () => {
      const { signal } = attempt.controller
      if (attempt.stop !== undefined) return Promise.reject(signal.reason)
      if (attempt.unrecordedEntries.length === 0 && !attempt.isReleasing) return undefined
      return commitJournal(attempt, context)
    },
  }
}

async function commitJournal(attempt: Attempt, context: WorkerContext): Promise<void> {
  await writeProgress(attempt, context)
  if (attempt.isReleasing) stopAttempt(attempt, { kind: 'released' })
  attempt.controller.signal.throwIfAborted()
}

/** Stores the progress that is not stored yet. Stops the attempt if the lease is lost or the task was cancelled. */
function writeProgress(attempt: Attempt, context: WorkerContext): Promise<void> {
  attempt.pendingWrites = attempt.pendingWrites.then(async () => {
    const progress = takeProgress(attempt)
    if (attempt.isFinished || (progress.entries.length === 0 && progress.statusMessage === undefined)) return
    if (stopIfTooLarge(attempt, progress) !== undefined) return
    const { engine } = context
    const state = await retryWrite(attempt, { run: () => engine.record(attempt.task, progress) }, context)
    applyLeaseState(attempt, state ?? 'lost')
    if (progress.statusMessage !== undefined) context.taskChanges.notifyChange(attempt.task.id)
  })
  return attempt.pendingWrites
}

/**
 * Adds entries to the size of the journal. If it becomes too large, stops the attempt and returns the error. Then no
 * later progress is written.
 */
export function stopIfTooLarge(attempt: Attempt, { entries }: TaskProgress): WireError | undefined {
  if (attempt.stop?.kind === 'too_large') return attempt.stop.error
  const error = addToJournalSize(attempt.journalSize, entries)
  if (error !== undefined) stopAttempt(attempt, { kind: 'too_large', error })
  return error
}

/** Stops an attempt whose lease is lost or whose task is cancelled. */
export function applyLeaseState(attempt: Attempt, state: LeaseState): void {
  if (state === 'lost') stopAttempt(attempt, { kind: 'lost' })
  if (state === 'cancelling') stopAttempt(attempt, { kind: 'cancelled' })
}

/** Returns the progress that is not stored yet, and removes it from the attempt. */
export function takeProgress(attempt: Attempt): TaskProgress {
  const {
    unrecordedEntries: entries,
    lastStatusMessage: statusMessage,
    lastProgress: progress,
    hasProgressed,
  } = attempt
  attempt.unrecordedEntries = []
  attempt.lastStatusMessage = undefined
  attempt.lastProgress = undefined
  attempt.hasProgressed = false
  return {
    entries: lastEntryOfEachKey(entries),
    hasProgressed,
    ...(statusMessage !== undefined && { statusMessage }),
    ...(progress && { progress }),
  }
}

function lastEntryOfEachKey(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  return [...new Map(entries.map((entry) => [JSON.stringify([entry.member, entry.key]), entry])).values()]
}

/** Milliseconds after which a status message is written if no journal entry is committed before. */
const messageIntervalMs = 500

/**
 * Records a report of progress as the status message and the numbers of a task. They are stored with the next commit,
 * or after half a second (seps/2663-tasks-extension, tasks).
 */
export function setLastProgress(attempt: Attempt, params: JsonObject | undefined, context: WorkerContext): void {
  const { progress, total, message } = params ?? {}
  const text = typeof message === 'string' ? message : total === undefined ? `${progress}` : `${progress} of ${total}`
  attempt.lastStatusMessage = text.slice(0, maxMessageLength)
  if (typeof progress === 'number') attempt.lastProgress = { progress, ...(typeof total === 'number' && { total }) }
  attempt.messageTimer ??= startBackgroundTimer(
    context.settings.clock,
    () => {
      attempt.messageTimer = undefined
      void writeProgress(attempt, context)
    },
    messageIntervalMs,
  )
}

const maxMessageLength = 1000

/** Adds a progress token to the params, because a handler reports progress only with a token. */
export function withProgressToken(params: JsonObject, id: string): JsonObject {
  const { _meta } = params
  return { ...params, _meta: { ...(typeof _meta === 'object' && _meta), [metaKeys.progressToken]: id } }
}

const firstRetryPauseMs = 100
const longestRetryPauseMs = 5000

/**
 * Repeats a write until it succeeds, so that a short outage of the database does not cost a task its progress. A
 * repetition is safe, because every write names the token of the claim. Returns undefined if a write fails after
 * `abandonSignal` has aborted.
 */
export async function retryWrite<T>(attempt: Attempt, write: Write<T>, context: WorkerContext): Promise<T | undefined> {
  attempt.writeStartedAt = context.settings.clock.monotonicNow()
  try {
    return await repeatUntilDone(attempt, write, context)
  } finally {
    attempt.writeStartedAt = undefined
  }
}

/** A write of an attempt. */
export interface Write<T> {
  readonly run: () => Promise<T>
  /**
   * Called when a repeated write has succeeded. Its value may be wrong, because an earlier attempt may already have
   * changed the task.
   */
  readonly onRepeated?: () => void
}

async function repeatUntilDone<T>(
  { abandonSignal, task }: Attempt,
  { run, onRepeated }: Write<T>,
  { settings }: WorkerContext,
): Promise<T | undefined> {
  const { clock, onError } = settings
  for (let pauseMs = firstRetryPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestRetryPauseMs)) {
    try {
      const value = await run()
      if (pauseMs > firstRetryPauseMs) onRepeated?.()
      return value
    } catch (error) {
      onError(error, { taskId: task.id })
      if (abandonSignal.aborted) return undefined
      await sleep(pauseMs, { clock, signal: abandonSignal, isBackground: true }).catch(() => {})
    }
  }
}
