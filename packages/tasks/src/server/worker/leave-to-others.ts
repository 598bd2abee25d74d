import type { JournalEntry, WireError } from '@x/schema'
import type { ClaimedTask } from '../../engines/engine.ts'

/** The part of a task's journal that counts how often it was left to others; it is the worker's, and no handler's. */
export const unservedPart = 'unserved'

const firstPauseMs = 250
const longestPauseMs = 15_000

/** How a task is left to other instances: with what is recorded of that, and after which pause. */
export interface LeftTask {
  readonly entry: JournalEntry
  readonly pauseMs: number
}

/** What an instance cannot serve: the error of a task that nobody can, and what it names. */
export interface Unserved {
  readonly code: number
  /** What it does not know, as the end of a sentence. */
  readonly what: string
}

/**
 * How a task goes on that this instance cannot serve, after it was left to others so many times before: after a pause that is longer each time,
 * in which nobody has it, so that it goes to and fro between instances of an old version no more than now and then. After `maxUnservedMs` of
 * such pauses it has to end, with the error that is given then.
 */
export function leaveToOthers(times: number, { code, what }: Unserved, maxUnservedMs: number): LeftTask | WireError {
  let waitedMs = 0
  for (let time = 0; time < times; time++) waitedMs += pauseMs(time)
  if (waitedMs < maxUnservedMs) return { entry: { part: unservedPart, value: times + 1 }, pauseMs: pauseMs(times) }
  const seconds = Math.floor(waitedMs / 1000)
  return { code, message: `For ${seconds} seconds no instance that had the task has known ${what}` }
}

function pauseMs(time: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** time)
}

/** How often a task was left to others since an instance last served it. */
export function timesLeft({ entries }: ClaimedTask): number {
  const times = entries.find(({ part }) => part === unservedPart)?.value
  return typeof times === 'number' ? times : 0
}

/** What is recorded first when a task is served again. */
export function servedAgain(task: ClaimedTask): readonly JournalEntry[] {
  return timesLeft(task) === 0 ? [] : [{ part: unservedPart, value: undefined }]
}
