import type { Schedule } from '../server/settings.ts'

interface Alarm {
  readonly tick: number
  readonly run: () => void
}

const longMs = 10_000

/**
 * A clock for many long waits of which hardly any comes to its end: one timer of the platform serves them all. A wait
 * may end up to two times `everyMs` late. Waits under 10 seconds are as exact as the platform's.
 */
export function createCoarseSchedule(exact: Schedule, everyMs = 1_000): Schedule {
  const alarms = new Set<Alarm>()
  let ticks = 0
  let ticking = false
  const tick = () => {
    ticks += 1
    // What runs may add alarms; theirs are of a later tick.
    for (const alarm of alarms) {
      if (alarm.tick > ticks) continue
      alarms.delete(alarm)
      alarm.run()
    }
    ticking = alarms.size > 0
    if (ticking) exact(tick, everyMs)
  }
  return (run, ms) => {
    if (ms < longMs) return exact(run, ms)
    if (!ticking) exact(tick, everyMs)
    ticking = true
    // The tick under way has begun already, so one more is waited for.
    const alarm = { tick: ticks + Math.ceil(ms / everyMs) + 1, run }
    alarms.add(alarm)
    return () => void alarms.delete(alarm)
  }
}
