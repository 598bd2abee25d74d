import type { DrainOptions, Undrain } from '@x/schema'
import type { ActiveDrain, LoadMonitor } from './load-monitor.ts'

/** The time in milliseconds that running calls have when the host of the server names none. */
const defaultGraceMs = 5000

/** Announces a stop, and returns the function that takes it back. Running calls are handed off unless they are kept. */
export function beginDrain(
  monitor: LoadMonitor,
  { keepCalls = false, graceMs = defaultGraceMs }: DrainOptions = {},
): Undrain {
  const drain: ActiveDrain = { isHandingOff: !keepCalls, beganAt: monitor.source.now(), graceMs }
  if (drain.isHandingOff) monitor.drainCount++
  monitor.activeDrains.add(drain)
  return () => void monitor.activeDrains.delete(drain)
}
