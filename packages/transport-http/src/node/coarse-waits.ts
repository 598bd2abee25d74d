import { enter, leave, type Rostered } from '../roster.ts'
import type { Schedule } from '../server/settings.ts'

interface Alarm extends Rostered {
  readonly tick: number
  readonly run: () => void
}

const longMs = 10_000

/**
 * A clock for many long waits of which hardly any comes to its end: one timer of the platform serves them all. A wait
 * may end up to two times `everyMs` late. Waits under 10 seconds are as exact as the platform's.
 */
export function createCoarseSchedule(exact: Schedule, everyMs = 1_000): Schedule {
  const alarms: Alarm[] = []
  let ticks = 0
  let ticking = false
  const tick = () => {
    ticks += 1
    // What runs may add alarms and take others back, so those that are due are picked first.
    for (const alarm of alarms.filter((each) => each.tick <= ticks)) {
      if (alarms[alarm.place] !== alarm) continue
      leave(alarms, alarm)
      alarm.run()
    }
    ticking = alarms.length > 0
    if (ticking) exact(tick, everyMs)
  }
  return (run, ms) => {
    if (ms < longMs) return exact(run, ms)
    if (!ticking) exact(tick, everyMs)
    ticking = true
    // The tick under way has begun already, so one more is waited for.
    const alarm = { tick: ticks + Math.ceil(ms / everyMs) + 1, run, place: -1 }
    enter(alarms, alarm)
    return () => leave(alarms, alarm)
  }
}
