import { computeBackoffMs } from '@x/core'
import type { PollingSettings } from './settings.ts'

/**
 * Returns the pause before the next poll, in milliseconds: the server's interval, within bounds, and up to a tenth
 * more, so that the tasks of a host are not all looked at in one moment (seps/2663-tasks-extension, task polling).
 */
export function computePollPauseMs(
  requestedMs: number | undefined,
  polling: PollingSettings,
  random: () => number,
): number {
  const { defaultMs, minMs, maxMs } = polling
  const boundedMs = Math.min(Math.max(requestedMs ?? defaultMs, minMs), maxMs)
  return Math.min(boundedMs * (1 + random() / 10), maxMs)
}

const firstFailurePauseMs = 1000

/** The longest pause after failures, in milliseconds. */
export const maxFailurePauseMs = 30_000

/**
 * Returns the pause after failures, in milliseconds: twice as long each time in a row, up to a bound, less a random
 * half. `earlier` is how many failures there were before the last one.
 */
export function computeFailurePauseMs(failureCount: number, random: () => number): number {
  return computeBackoffMs(failureCount, { firstMs: firstFailurePauseMs, maxMs: maxFailurePauseMs }, random)
}
