import { errorCodes, McpError } from '@x/schema'
import { type Gauge, loadOf } from './gauge.ts'

/**
 * Refuses a call before its handler runs, when the server is beyond its hard limit: with an internal error whose data say
 * when to try again, which is 503 over HTTP. One that comes back with what it has done is let in up to twice the limit.
 */
export function admitCall(gauge: Gauge, isReturning: boolean): void {
  if (!isBeyond(gauge, isReturning ? 2 : 1)) return
  gauge.refused++
  const { retryAfterMs } = gauge.rules
  const message = `The server is overloaded and has not begun this call: try again in ${retryAfterMs} ms`
  throw new McpError(errorCodes.internal, message, { data: { reason: 'overloaded', retryAfterMs } })
}

/** Whether the load is so many times the hard limit. */
export function isBeyond(gauge: Gauge, factor: number): boolean {
  const { running, eventLoopDelayMs } = gauge.rules.hardLimit
  if (gauge.running >= running * factor) return true
  return eventLoopDelayMs !== Number.POSITIVE_INFINITY && loadOf(gauge).eventLoopDelayMs > eventLoopDelayMs * factor
}
