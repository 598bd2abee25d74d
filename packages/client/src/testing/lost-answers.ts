import { type Clock, platformRuntime } from '@x/core'

export function transportError(name: string, details: object): Error {
  return Object.assign(new Error('the connection ended before the answer'), { name }, details)
}

/** Pauses take no time on this clock, and count as if they did. */
export function createSkippingClock(): Clock {
  let skippedMs = 0
  return {
    ...platformRuntime,
    monotonicNow: () => platformRuntime.monotonicNow() + skippedMs,
    setTimeout: (run, ms) => {
      // Limits of calls are longer than every pause.
      if (ms > 10_000) return platformRuntime.setTimeout(run, ms)
      return platformRuntime.setTimeout(() => {
        skippedMs += ms
        run()
      }, 0)
    },
  }
}
