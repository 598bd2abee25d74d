import type { Schedule } from '../server/handler-settings.ts'

/** A clock that stands still until the test moves it. */
export interface HandClock {
  readonly schedule: Schedule
  /** Moves on, and runs on the way what is due. */
  advance(ms: number): void
  /** How many functions are waiting. */
  waiting(): number
}

/** Makes a {@link HandClock}. */
export function handClock(): HandClock {
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  let now = 0
  return {
    schedule(run, ms) {
      const timer = { at: now + ms, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    advance(ms) {
      const end = now + ms
      for (;;) {
        const [next] = [...timers].filter((timer) => timer.at <= end).sort((left, right) => left.at - right.at)
        if (next === undefined) break
        timers.delete(next)
        now = next.at
        next.run()
      }
      now = end
    },
    waiting: () => timers.size,
  }
}
