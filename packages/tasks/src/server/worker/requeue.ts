import type { JournalEntry, WireError } from '@x/schema'
import type { ClaimedTask } from '../../engines/engine.ts'

/** The part of a task's journal that counts the times it was requeued; it is the worker's, and no handler's. */
export const unsupportedPart = 'unserved'

const firstPauseMs = 250
const longestPauseMs = 15_000

/** A task that is requeued for other instances: the entry that counts it, and the pause before. */
export interface RequeuedTask {
  readonly entry: JournalEntry
  readonly pauseMs: number
}

/** A capability that an instance lacks, and the error of a task that no instance can run. */
export interface MissingCapability {
  readonly code: number
  /** The missing thing, as the end of a sentence. */
  readonly what: string
}

/**
 * Next step of a task that this instance cannot serve, after it was left to others so many times before: after a pause that is longer each time,
 * in which nobody has it, so that it goes to and fro between instances of an old version no more than now and then. After `maxUnsupportedMs` of
 * such pauses it has to end, with the error that is given then.
 */
export function requeue(
  times: number,
  { code, what }: MissingCapability,
  maxUnsupportedMs: number,
): RequeuedTask | WireError {
  let waitedMs = 0
  for (let time = 0; time < times; time++) waitedMs += pauseMs(time)
  if (waitedMs < maxUnsupportedMs)
    return { entry: { part: unsupportedPart, value: times + 1 }, pauseMs: pauseMs(times) }
  const seconds = Math.floor(waitedMs / 1000)
  return { code, message: `For ${seconds} seconds no instance that had the task has known ${what}` }
}

function pauseMs(time: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** time)
}

/** Returns the times that a task was requeued since an instance last supported it. */
export function timesRequeued({ entries }: ClaimedTask): number {
  const times = entries.find(({ part }) => part === unsupportedPart)?.value
  return typeof times === 'number' ? times : 0
}

/** Returns the entries to record first when a task is supported again. */
export function supportedAgain(task: ClaimedTask): readonly JournalEntry[] {
  return timesRequeued(task) === 0 ? [] : [{ part: unsupportedPart, value: undefined }]
}
