import { errorCodes, McpError } from '@x/schema'
import type { RequestState } from '../replay/served-request.ts'
import { countDown, countUp } from './caller-limit.ts'
import { beginMonitoredCall, endMonitoredCall, type LoadMonitor, loadOf } from './load-monitor.ts'
import type { HardLimits } from './rules.ts'

/** The share of the hard limit that calls which come back never take from new ones. */
const newCallShare = 1 / 4

/** The share of the hard limit that the returning calls of one caller may take once the server is beyond it. */
const callerShare = 1 / 2

/**
 * Rejects a call before its handler runs, when the server is beyond its hard limit: with an internal error whose data say
 * when to try again, which is 503 over HTTP. A call that comes back with what it has done is let in up to twice the
 * limit. One state may come back any number of times: returning calls leave a share to new ones, and those of one caller
 * a share to those of others.
 */
export function checkCapacity(request: RequestState): void {
  const { loadMonitor: monitor } = request.settings
  const limit = isResumed(request) ? resumedCallLimit(monitor, request.caller) : newCallLimit(monitor)
  if (limit === undefined) return
  monitor.rejected++
  const { retryAfterMs, hardLimit } = monitor.rules
  const message = `The server is at its hard limit (${limit} is ${hardLimit[limit]}) and has not begun this call`
  const data = { reason: 'overloaded', limit: `hardLimit.${limit}`, max: hardLimit[limit], retryAfterMs }
  throw new McpError(errorCodes.internal, `${message}: try again in ${retryAfterMs} ms`, { data })
}

/** Notes that a handler begins for a request, or that its state is being opened. It is all that a call pays which records nothing. */
export function beginCall(request: RequestState): void {
  const { loadMonitor: monitor } = request.settings
  beginMonitoredCall(monitor)
  if (!isResumed(request)) return
  monitor.returning++
  countUp(monitor.returningOf, request.caller)
}

/** Notes that the handler of a request has come to its end. */
export function endCall(request: RequestState): void {
  const { loadMonitor: monitor } = request.settings
  endMonitoredCall(monitor)
  if (!isResumed(request)) return
  monitor.returning--
  countDown(monitor.returningOf, request.caller)
}

/** Returns whether the load is at the hard limit. */
export function isAtHardLimit(monitor: LoadMonitor): boolean {
  return monitor.running >= monitor.rules.hardLimit.running || isTooLate(monitor, 1)
}

type HardLimitName = keyof HardLimits

/** Returns the limit that keeps a new call out. */
function newCallLimit(monitor: LoadMonitor): HardLimitName | undefined {
  const { running } = monitor.rules.hardLimit
  if (monitor.running >= running && newCalls(monitor) >= reservedFor(monitor)) return 'running'
  return isTooLate(monitor, 1) ? 'eventLoopDelayMs' : undefined
}

/** Returns the limit that keeps a call out that comes back. */
function resumedCallLimit(monitor: LoadMonitor, caller: string): HardLimitName | undefined {
  if (monitor.running >= monitor.rules.hardLimit.running && !mayResume(monitor, caller)) return 'running'
  return isTooLate(monitor, 2) ? 'eventLoopDelayMs' : undefined
}

function isTooLate(monitor: LoadMonitor, factor: number): boolean {
  const { eventLoopDelayMs } = monitor.rules.hardLimit
  return eventLoopDelayMs !== Number.POSITIVE_INFINITY && loadOf(monitor).eventLoopDelayMs > eventLoopDelayMs * factor
}

function mayResume(monitor: LoadMonitor, caller: string): boolean {
  const { running } = monitor.rules.hardLimit
  if (monitor.running >= running * 2 || monitor.returning >= running * 2 - reservedFor(monitor)) return false
  return (monitor.returningOf.get(caller) ?? 0) < Math.max(1, Math.ceil(running * callerShare))
}

function newCalls(monitor: LoadMonitor): number {
  return monitor.running - monitor.returning
}

function reservedFor({ rules }: LoadMonitor): number {
  return Math.ceil(rules.hardLimit.running * newCallShare)
}

/** A task is nobody's call: it was let in when it was created. */
function isResumed({ params, journal }: RequestState): boolean {
  return journal === undefined && typeof params['requestState'] === 'string'
}
