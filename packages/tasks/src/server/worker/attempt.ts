import { sleep, startBackgroundTimer } from '@x/core'
import { type JournalEntry, type JournalStore, type JsonObject, metaKeys, type WireError } from '@x/schema'
import type { ClaimedTask, LeaseState, ProgressNumbers, TaskProgress } from '../../engines/engine.ts'
import type { TaskContext } from '../options.ts'
import { createResetEntries } from './requeue.ts'
import { addToJournalSize, type JournalSize, measureJournalSize } from './size-limits.ts'

/** The reason why an attempt stops before its call has an outcome. */
export type AttemptStop =
  /** Another process has the task, or it has ended. */
  | { readonly kind: 'lost' }
  /** The task would record too much: it fails with this error. */
  | { readonly kind: 'too_large'; readonly error: WireError }
  | { readonly kind: 'cancelled' }
  /** The task is left to any instance. */
  | { readonly kind: 'released' }

/**
 * The precedence of reasons that compete: the higher rank wins. Nothing is written for a task that is lost, and one
 * that cannot be recorded cannot be continued.
 */
const stopRanks: Readonly<Record<AttemptStop['kind'], number>> = { lost: 4, too_large: 3, cancelled: 2, released: 1 }

/** One claim of a task while it is worked on. */
export interface Attempt {
  readonly task: ClaimedTask
  /** Aborts the handler. */
  readonly controller: AbortController
  /** Aborts when no caller waits any more for what cannot be kept. */
  readonly abandonSignal: AbortSignal
  readonly journalSize: JournalSize
  unrecordedEntries: JournalEntry[]
  lastStatusMessage: string | undefined
  /** The numbers that were reported last. */
  lastProgress: ProgressNumbers | undefined
  /** True when a step was recorded since the last write. */
  hasProgressed: boolean
  /** Every write waits for the one before. */
  pendingWrites: Promise<void>
  messageTimer: unknown
  /** Set when the task is to be released at the next boundary. */
  isReleasing: boolean
  /** The reason with the highest rank so far. */
  stop: AttemptStop | undefined
  /** Set when the claim has ended: nothing is written any more. */
  isFinished: boolean
}

/** Begins to work on a claimed task. */
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
    messageTimer: undefined,
    isReleasing: false,
    stop: undefined,
    isFinished: false,
  }
}

/** Stops the handler. Of several reasons the one with the highest rank decides what becomes of the task. */
export function stopAttempt(attempt: Attempt, stop: AttemptStop): void {
  if (attempt.isFinished) return
  if (attempt.stop === undefined || stopRanks[stop.kind] > stopRanks[attempt.stop.kind]) attempt.stop = stop
  attempt.controller.abort(new DOMException(stopMessages[stop.kind], 'AbortError'))
}

const stopMessages: Readonly<Record<AttemptStop['kind'], string>> = {
  lost: 'The task has ended, or goes on elsewhere',
  cancelled: 'The task was cancelled',
  released: 'The task goes on elsewhere, because this process stops',
  too_large: 'The task has recorded more than it may',
}

/** Lets an attempt continue to the end of its next step, where its task is released. */
export function requestRelease(attempt: Attempt): void {
  attempt.isReleasing = true
}

/** Notes that the claim has ended: nothing is written any more. */
export function endClaim(attempt: Attempt): void {
  attempt.isFinished = true
}

/** Stores the journal of an attempt: every commit is one write, which those that wait for it share. */
export function createJournalStore(attempt: Attempt, journal: JsonObject, context: TaskContext): JournalStore {
  return {
    journal,
    responses: attempt.task.responses,
    append: (entry) => {
      // Recording something for a task counts as serving it.
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

async function commitJournal(attempt: Attempt, context: TaskContext): Promise<void> {
  await writeProgress(attempt, context)
  if (attempt.isReleasing) stopAttempt(attempt, { kind: 'released' })
  attempt.controller.signal.throwIfAborted()
}

/** Keeps what was noted by now. It stops the attempt when the task is not to continue here. */
function writeProgress(attempt: Attempt, context: TaskContext): Promise<void> {
  attempt.pendingWrites = attempt.pendingWrites.then(async () => {
    const progress = takeProgress(attempt)
    if (attempt.isFinished || (progress.entries.length === 0 && progress.statusMessage === undefined)) return
    if (stopIfTooLarge(attempt, progress, context) !== undefined) return
    const { engine } = context.settings
    const state = await retryEngineCall(() => engine.record(attempt.task, progress), attempt.abandonSignal, context)
    applyLeaseState(attempt, state ?? 'lost')
    if (progress.statusMessage !== undefined) context.taskChanges.notifyChange(attempt.task.id)
  })
  return attempt.pendingWrites
}

/** Returns an error if progress is too large to be written. Then the attempt stops, and nothing after it is written. */
export function stopIfTooLarge(
  attempt: Attempt,
  { entries }: TaskProgress,
  context: TaskContext,
): WireError | undefined {
  if (attempt.stop?.kind === 'too_large') return attempt.stop.error
  const error = addToJournalSize(attempt.journalSize, entries, context.settings)
  if (error !== undefined) stopAttempt(attempt, { kind: 'too_large', error })
  return error
}

/** Stops an attempt whose lease is lost or whose task is cancelled. */
export function applyLeaseState(attempt: Attempt, state: LeaseState): void {
  if (state === 'lost') stopAttempt(attempt, { kind: 'lost' })
  if (state === 'cancelling') stopAttempt(attempt, { kind: 'cancelled' })
}

/** Takes everything that is still to be kept. */
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

/** Milliseconds between two writes that bring nothing but a status message. */
const messageIntervalMs = 500

/**
 * Takes progress for the status message and the numbers beside it. It is written with the next commit, or soon
 * (seps/2663-tasks-extension, tasks).
 */
export function setLastProgress(attempt: Attempt, params: JsonObject | undefined, context: TaskContext): void {
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

/** Adds the progress token without which a handler reports no progress. */
export function withProgressToken(params: JsonObject, id: string): JsonObject {
  const { _meta } = params
  return { ...params, _meta: { ...(typeof _meta === 'object' && _meta), [metaKeys.progressToken]: id } }
}

const firstRetryPauseMs = 100
const longestRetryPauseMs = 5000

/**
 * Does something with the engine until it succeeds: a database that is unreachable for a moment must not cost a task
 * what it has done. It is safe to do it again, because every write is fenced. Undefined when it was given up.
 */
export async function retryEngineCall<T>(
  write: () => Promise<T>,
  abandonSignal: AbortSignal,
  context: TaskContext,
): Promise<T | undefined> {
  const { clock, onError } = context.settings
  for (let pauseMs = firstRetryPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestRetryPauseMs)) {
    try {
      return await write()
    } catch (error) {
      onError(error)
      if (abandonSignal.aborted) return undefined
      await sleep(pauseMs, { clock, signal: abandonSignal, isBackground: true }).catch(() => {})
    }
  }
}
