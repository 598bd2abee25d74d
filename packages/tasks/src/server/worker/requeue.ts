import type { JournalEntry } from '@x/exchange'
import type { WireError } from '@x/schema'
import type { ClaimedTask } from '../../engines/engine.ts'

/** Part of the journal that counts how often a task was requeued. Handlers do not see it. */
export const requeuePart = 'unserved'

const firstPauseMs = 250
const longestPauseMs = 15_000
const requeuesPerPause = 4

/**
 * Once its pauses add up to this many milliseconds, a task that no instance supports fails. A deployment takes less
 * time.
 */
// limit: ms | a task of a tool that no instance has | the task fails
const unsupportedTaskTimeoutMs = 300_000

/** What an instance lacks. Its members make the error of a task that no instance can run. */
export interface MissingCapability {
  readonly code: number
  /** What is missing, a tool, a format or a key, in words that can end a sentence. */
  readonly description: string
  /** For the log. */
  readonly cause?: unknown
}

/**
 * Plans for a task that this instance cannot run: it is requeued, and no instance can claim it during a pause, which
 * doubles after every fourth requeue. Chance decides which instance claims the task next. If half of the instances run
 * an old version, the task waits longer than 15 seconds once in 65,536 times. If no instance has the tool, instances
 * claim the task about 20 times in the first minute. Once the pauses add up to `unsupportedTaskTimeoutMs`, the task
 * ends with the error that is returned.
 */
export function planRequeue(
  requeueCount: number,
  { code, description }: MissingCapability,
): { readonly entry: JournalEntry; readonly pauseMs: number } | WireError {
  let waitedMs = 0
  for (let requeueIndex = 0; requeueIndex < requeueCount; requeueIndex++)
    waitedMs += computeRequeuePauseMs(requeueIndex)
  if (waitedMs < unsupportedTaskTimeoutMs)
    return { entry: { member: requeuePart, value: requeueCount + 1 }, pauseMs: computeRequeuePauseMs(requeueCount) }
  const seconds = Math.floor(waitedMs / 1000)
  return { code, message: `For ${seconds} seconds no instance that claimed the task supported ${description}` }
}

function computeRequeuePauseMs(requeueIndex: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.floor(requeueIndex / requeuesPerPause))
}

/** How often a task was requeued since an instance last supported it. */
export function requeueCountOf({ entries }: ClaimedTask): number {
  const requeueCount = entries.find(({ member }) => member === requeuePart)?.value
  return typeof requeueCount === 'number' ? requeueCount : 0
}

/** Empty if there is no count to reset. */
export function createResetEntries(task: ClaimedTask): readonly JournalEntry[] {
  return requeueCountOf(task) === 0 ? [] : [{ member: requeuePart, value: undefined }]
}
