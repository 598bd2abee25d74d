import type { JournalEntry, WireError } from '@x/schema'
import type { ClaimedTask } from '../../engines/engine.ts'

/** The part of a task's journal that counts how often the task was requeued. Handlers do not see it. */
export const requeuePart = 'unserved'

const firstPauseMs = 250
const longestPauseMs = 15_000
const requeuesPerPause = 4

/** Milliseconds of pauses after which a task fails that no instance supports: a deployment takes less. */
const unsupportedTaskTimeoutMs = 300_000

/** A task that is requeued for other instances: the entry that counts it, and the pause before. */
export interface RequeuePlan {
  readonly entry: JournalEntry
  readonly pauseMs: number
}

/** A capability that an instance lacks, and the error of a task that no instance can run. */
export interface MissingCapability {
  readonly code: number
  /** The missing tool or format, as the end of a sentence. */
  readonly description: string
}

/**
 * Returns the next step of a task that this instance cannot run: it is requeued after a pause in which no instance has
 * it. The pause doubles after every fourth time. Chance decides which instance claims the task next: with an old
 * version on half of the instances, the task waits longer than 15 seconds once in 65,536 times, and a fleet without its
 * tool claims it about 20 times in the first minute. After `unsupportedTaskTimeoutMs` of pauses the task ends with the
 * error that is returned then.
 */
export function planRequeue(requeueCount: number, { code, description }: MissingCapability): RequeuePlan | WireError {
  let waitedMs = 0
  for (let requeueIndex = 0; requeueIndex < requeueCount; requeueIndex++)
    waitedMs += computeRequeuePauseMs(requeueIndex)
  if (waitedMs < unsupportedTaskTimeoutMs)
    return { entry: { member: requeuePart, value: requeueCount + 1 }, pauseMs: computeRequeuePauseMs(requeueCount) }
  const seconds = Math.floor(waitedMs / 1000)
  return { code, message: `For ${seconds} seconds no instance that had the task has known ${description}` }
}

function computeRequeuePauseMs(requeueIndex: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.floor(requeueIndex / requeuesPerPause))
}

/** Returns the times that a task was requeued since an instance last supported it. */
export function requeueCountOf({ entries }: ClaimedTask): number {
  const requeueCount = entries.find(({ member }) => member === requeuePart)?.value
  return typeof requeueCount === 'number' ? requeueCount : 0
}

/** Returns the entries to record first when a task is supported again. */
export function createResetEntries(task: ClaimedTask): readonly JournalEntry[] {
  return requeueCountOf(task) === 0 ? [] : [{ member: requeuePart, value: undefined }]
}
