import type { Polling } from './settings.ts'

/**
 * Returns the pause before the next poll, in milliseconds: the server's interval, within bounds, and up to a tenth more, so that the
 * tasks of a host are not all looked at in one moment (seps/2663-tasks-extension, task polling).
 */
export function pollPause(asked: number | undefined, polling: Polling, random: () => number): number {
  const { defaultMs, minMs, maxMs } = polling
  const wanted = Math.min(Math.max(asked ?? defaultMs, minMs), maxMs)
  return Math.min(wanted * (1 + random() / 10), maxMs)
}

const firstMs = 1000

/** The longest pause after failures, in milliseconds. */
export const longestPauseMs = 30_000

/**
 * Returns the pause after failures, in milliseconds: twice as long each time in a row, up to a bound, less a random half. `earlier` is how
 * many failures there were before the last one.
 */
export function failurePause(earlier: number, random: () => number): number {
  return Math.min(firstMs * 2 ** earlier, longestPauseMs) * (1 - random() / 2)
}
