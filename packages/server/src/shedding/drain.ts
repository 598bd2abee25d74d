import type { DrainOptions, Undrain } from '@x/schema'
import type { ActiveDrain, LoadMonitor } from './load-monitor.ts'

/** The grace period for running calls if the program sets none, in milliseconds. */
const defaultGraceMs = 5000

/**
 * Announces that the server will stop, and returns a function that withdraws the announcement. Running calls are handed
 * off unless `keepCalls` is true.
 */
export function beginDrain(
  monitor: LoadMonitor,
  { keepCalls = false, graceMs = defaultGraceMs }: DrainOptions = {},
): Undrain {
  const drain: ActiveDrain = { isHandingOff: !keepCalls, beganAt: monitor.source.now(), graceMs }
  if (drain.isHandingOff) monitor.drainCount++
  monitor.activeDrains.add(drain)
  return () => void monitor.activeDrains.delete(drain)
}
