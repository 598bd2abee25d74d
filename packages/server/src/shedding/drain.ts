import type { DrainOptions, Undrain } from '@x/exchange'
import type { EventSource } from '@x/exchange/internal'
import type { ActiveDrain, LoadMonitor } from './load-monitor.ts'

/** The grace period for running calls if the program sets none, in milliseconds. */
const defaultGraceMs = 5000

const noEvents: Pick<EventSource, 'emit'> = { emit: undefined }

/**
 * Announces that the server will stop, and returns a function that withdraws the announcement. Running calls are handed
 * off unless `keepCalls` is true.
 */
export function beginDrain(
  monitor: LoadMonitor,
  { keepCalls = false, graceMs = defaultGraceMs }: DrainOptions = {},
  events: Pick<EventSource, 'emit'> = noEvents,
): Undrain {
  const drain: ActiveDrain = { isHandingOff: !keepCalls, beganAt: monitor.source.now(), graceMs }
  if (drain.isHandingOff) monitor.drainCount++
  const isFirst = monitor.activeDrains.size === 0
  monitor.activeDrains.add(drain)
  if (isFirst) events.emit?.({ type: 'drain_started', runningCount: monitor.runningCount })
  return () => {
    if (monitor.activeDrains.delete(drain) && monitor.activeDrains.size === 0)
      events.emit?.({ type: 'drain_ended', runningCount: monitor.runningCount })
  }
}

/** Emits the end of a drain when the server closes. The handlers that still run are then lost. */
export function endDrains({ activeDrains, runningCount }: LoadMonitor, events: Pick<EventSource, 'emit'>): void {
  if (activeDrains.size > 0) events.emit?.({ type: 'drain_ended', runningCount })
}
