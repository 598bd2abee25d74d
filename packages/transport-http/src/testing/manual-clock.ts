import type { Schedule } from '@x/core'

/** Only the test advances this clock. */
export interface ManualClock {
  readonly schedule: Schedule
  /** Advances the clock, and runs the functions that are due on the way. */
  advance(ms: number): void
  countTimers(): number
}

export function createManualClock(): ManualClock {
  const timers = new Set<{ readonly dueAt: number; readonly run: () => void }>()
  let now = 0
  return {
    schedule(run, ms) {
      const timer = { dueAt: now + ms, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    advance(ms) {
      const end = now + ms
      for (;;) {
        const [next] = [...timers].filter((timer) => timer.dueAt <= end).sort((left, right) => left.dueAt - right.dueAt)
        if (next === undefined) break
        timers.delete(next)
        now = next.dueAt
        next.run()
      }
      now = end
    },
    countTimers: () => timers.size,
  }
}
