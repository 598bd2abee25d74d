import { errorCodes, McpError } from '@x/schema'
import { type LoadMonitor, loadOf } from './load-monitor.ts'

/**
 * Refuses a call before its handler runs, when the server is beyond its hard limit: with an internal error whose data
 * say when to try again, which is 503 over HTTP. One that comes back with what it has done is let in up to twice the
 * limit.
 */
export function admitCall(monitor: LoadMonitor, isReturning: boolean): void {
  if (!isBeyond(monitor, isReturning ? 2 : 1)) return
  monitor.refused++
  const { retryAfterMs } = monitor.rules
  const message = `The server is overloaded and has not begun this call: try again in ${retryAfterMs} ms`
  throw new McpError(errorCodes.internal, message, { data: { reason: 'overloaded', retryAfterMs } })
}

/** Returns whether the load is beyond a multiple of the hard limit. */
export function isBeyond(monitor: LoadMonitor, factor: number): boolean {
  const { running, eventLoopDelayMs } = monitor.rules.hardLimit
  if (monitor.running >= running * factor) return true
  return eventLoopDelayMs !== Number.POSITIVE_INFINITY && loadOf(monitor).eventLoopDelayMs > eventLoopDelayMs * factor
}
