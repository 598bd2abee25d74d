import type { Clock } from '@x/schema'
import { openWait, whileOpen } from './wait.ts'
import type { PauseBounds } from './round-options.ts'

/**
 * How long to wait before a retry that nobody was asked for, in milliseconds: twice as long each time in a row, up to a
 * bound, less a random half, so that the calls of an instance that stops do not all come back at one moment.
 */
export function pauseOf(earlier: number, bounds: PauseBounds, random: () => number = Math.random): number {
  const { first = 50, most = 5000 } = bounds
  const longest = Math.min(first * 2 ** earlier, most)
  return longest * (1 - random() / 2)
}

/** Waits, or rejects with the signal's reason. */
export async function pause(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  const wait = openWait({ signal, timeoutMs: undefined, clock, late: () => new Error('a pause is never late') })
  let timer: unknown
  const over = new Promise<void>((resolve) => {
    timer = clock.setTimeout(resolve, ms)
  })
  try {
    await whileOpen(over, wait.signal)
  } finally {
    clock.clearTimeout(timer)
    wait.close()
  }
}
