import { isWorkerd, unref } from '@x/core'
import { errorCodes, type JournalStore, type JsonObject, McpError } from '@x/schema'
import type { StateCodec } from '@x/state-codec'
import { createEmptyFleetView, type FleetView, randomInstanceId } from './fleet-view.ts'
import { isOverloaded, noOverload, type Overload, overloadOf } from './overload.ts'
import { type ResolvedHardLimits, type SheddingRules, sheddingRulesOf } from './shedding-rules.ts'
import type { Load, McpServerLoad, SheddingOptions, ShedReason } from './shedding-options.ts'
import type { ServerWarning } from '../request/report.ts'
import { waitForImmediate } from '../request/awaitable.ts'

/** The load of a server, as far as it is known. It is written in place, because every call of a handler changes it. */
export interface LoadMonitor {
  readonly rules: SheddingRules
  readonly source: LoadSource
  /** Handlers that run. */
  runningCount: number
  /** Those of them whose calls returned with a state. */
  resumedCount: number
  /** The same by the key of the caller. Callers without one are absent. */
  readonly resumedCountByCaller: Map<string, number>
  /** Those of them that are being handed off. */
  pendingHandOffCount: number
  /** Runs that wait for the next tick. */
  waitingRunCount: number
  /** Stops announced so far that hand calls off. */
  drainCount: number
  /** Announced stops that were not taken back. */
  readonly activeDrains: Set<ActiveDrain>
  /** True when a timer measures periodically. */
  isTicking: boolean
  /** Time at which the next tick should come. */
  tickDueAt: number
  measuredAt: number
  measuredLoad: Partial<Load>
  /** By how many milliseconds ticks were late, smoothed. */
  tickDelayMs: number
  /** The values that are over the limits of shedding. */
  overload: Overload
  /** The values that are over the limits of readiness. */
  readinessOverload: Overload
  /** Since when something has been over its limit of readiness. */
  unreadySince: number | undefined
  /** Calls that may be handed off until the allowance is renewed. */
  shedAllowance: number
  allowanceRenewedAt: number
  /** The loads of other instances, as their hand-offs report them. */
  readonly fleet: FleetView
  readonly shedCounts: Record<ShedReason, number>
  rejectedCallCount: number
  resumedCallCount: number
}

/** A stop that was announced and not taken back. */
export interface ActiveDrain {
  /** False while balancers may still choose this instance. */
  readonly isHandingOff: boolean
  /** Time at which it was announced. */
  readonly beganAt: number
  /** Milliseconds that running calls have from then on. */
  readonly graceMs: number
}

/** The time and the measurements of a load monitor. */
interface LoadSource {
  /** Milliseconds, from any beginning. */
  readonly now: () => number
  /** Milliseconds since 1970: it dates the reports between instances. */
  readonly wallClock: () => number
  /**
   * Runs a function once, later, without keeping the process alive for it, undefined where timers measure no delay of
   * the event loop.
   */
  readonly setTimer: ((callback: () => void, ms: number) => void) | undefined
  readonly measureLoad: SheddingOptions['load']
  /** Receives the error of a failed measurement. */
  readonly onFailure: (error: unknown) => void
  /** Returns a random name for this instance, not its process id, which other machines have as well. */
  readonly randomId: () => string
}

/** Milliseconds between two measurements. */
const measureIntervalMs = 100

/** Milliseconds between two allowances: a measurement needs that long to show the effect of the first. */
const allowanceIntervalMs = 200

/** The share of the running calls that may be handed off at each allowance. */
const allowanceShare = 1 / 8

/** Timers may fire a little early. */
const timerSlackMs = 1

/** Makes a load monitor that has measured nothing. */
export function createLoadMonitor(sheddingRules: SheddingRules, source: LoadSource): LoadMonitor {
  return {
    rules: sheddingRules,
    source,
    runningCount: 0,
    resumedCount: 0,
    resumedCountByCaller: new Map(),
    pendingHandOffCount: 0,
    waitingRunCount: 0,
    drainCount: 0,
    activeDrains: new Set(),
    isTicking: false,
    tickDueAt: 0,
    measuredAt: Number.NEGATIVE_INFINITY,
    measuredLoad: {},
    tickDelayMs: 0,
    overload: noOverload,
    readinessOverload: noOverload,
    unreadySince: undefined,
    shedAllowance: 0,
    allowanceRenewedAt: Number.NEGATIVE_INFINITY,
    fleet: createEmptyFleetView(source.randomId),
    shedCounts: { load: 0, policy: 0, stopping: 0 },
    rejectedCallCount: 0,
    resumedCallCount: 0,
  }
}

/** Notes that a handler begins. */
export function beginMonitoredCall(monitor: LoadMonitor): void {
  monitor.runningCount++
  if (!monitor.isTicking) scheduleTick(monitor)
}

/** Notes that a handler has come to its end. */
export function endMonitoredCall(monitor: LoadMonitor): void {
  monitor.runningCount--
}

/** Notes that a running call is about to be handed off: it does not count for the load any more. */
export function beginHandOff(monitor: LoadMonitor): void {
  monitor.pendingHandOffCount++
}

/** Notes that the run of a call that was to be handed off has come to its end. */
export function endHandOff(monitor: LoadMonitor): void {
  monitor.pendingHandOffCount--
}

/** Takes one hand-off of the allowance. Returns false when it is used up. */
export function tryTakeAllowance(monitor: LoadMonitor): boolean {
  if (monitor.shedAllowance < 1) return false
  monitor.shedAllowance--
  return true
}

/** Counts a call that was handed off. */
export function countShedCall(monitor: LoadMonitor, reason: ShedReason): void {
  monitor.shedCounts[reason]++
}

/** Counts a call that continues here, from the state that it came with. */
export function countResumedCall(monitor: LoadMonitor): void {
  monitor.resumedCallCount++
}

/** Resolves after the next tick of the event loop, and counts the run that waits for it meanwhile. */
export async function yieldForTick(monitor: LoadMonitor): Promise<void> {
  monitor.waitingRunCount++
  await waitForImmediate()
  monitor.waitingRunCount--
}

/** Returns the load as it is known. */
export function readCurrentLoad(monitor: LoadMonitor): Load {
  const {
    running = monitor.runningCount - monitor.pendingHandOffCount,
    eventLoopDelayMs = monitor.tickDelayMs,
    heapShare,
  } = monitor.measuredLoad
  return { running, eventLoopDelayMs, heapShare }
}

/** Measures, unless it was done a moment ago: a loop that is blocked has no ticks. */
export function sampleLoad(monitor: LoadMonitor): void {
  const { source } = monitor
  const now = source.now()
  if (now - monitor.measuredAt < measureIntervalMs - timerSlackMs) return
  monitor.measuredAt = now
  if (monitor.isTicking && now >= monitor.tickDueAt)
    monitor.tickDelayMs = (monitor.tickDelayMs + now - monitor.tickDueAt) / 2
  monitor.measuredLoad = measureCustomLoad(source)
  updateOverload(monitor)
  if (now - monitor.allowanceRenewedAt < allowanceIntervalMs - timerSlackMs) return
  monitor.allowanceRenewedAt = now
  // Were all calls handed off at once, the next measurement would show an idle instance among flooded ones.
  monitor.shedAllowance = Math.max(1, Math.ceil(monitor.runningCount * allowanceShare))
}

/** Compares the load with the limits. The number of running calls changes with each of them, so it is looked at now. */
export function updateOverload(monitor: LoadMonitor): void {
  const { limits, readinessLimits } = monitor.rules
  const load = readCurrentLoad(monitor)
  monitor.overload = overloadOf(load, limits, monitor.overload)
  monitor.readinessOverload = overloadOf(load, readinessLimits, monitor.readinessOverload)
  if (isOverloaded(monitor.readinessOverload)) monitor.unreadySince ??= monitor.source.now()
  else monitor.unreadySince = undefined
}

function measureCustomLoad({ measureLoad: customMeasure, onFailure }: LoadSource): Partial<Load> {
  try {
    return customMeasure === undefined ? {} : customMeasure()
  } catch (error) {
    onFailure(error)
    return {}
  }
}

function scheduleTick(monitor: LoadMonitor): void {
  const { setTimer, now } = monitor.source
  if (setTimer === undefined) return
  monitor.isTicking = true
  monitor.tickDueAt = now() + measureIntervalMs
  setTimer(() => handleTick(monitor), measureIntervalMs)
}

function handleTick(monitor: LoadMonitor): void {
  sampleLoad(monitor)
  if (monitor.runningCount > 0) return scheduleTick(monitor)
  monitor.isTicking = false
  // The last measurement says nothing of the time to come.
  monitor.tickDelayMs = 0
  monitor.overload = noOverload
  monitor.readinessOverload = noOverload
  monitor.unreadySince = undefined
}

/** The part of a request that counts for the load. */
interface MonitoredRequest {
  /** The key by which quotas count the caller. */
  readonly callerKey: string
  readonly params: JsonObject
  /** Set for a call that runs as a task. */
  readonly journalStore: JournalStore | undefined
  readonly settings: { readonly loadMonitor: LoadMonitor }
}

/** The share of the hard limit that returning calls never take from new ones. */
const newCallShare = 1 / 4

/** The share of the hard limit that the returning calls of one caller may take once the server is beyond it. */
const callerShare = 1 / 2

/**
 * Rejects a call before its handler runs, when the server is beyond its hard limit: with an internal error whose data
 * say when to try again, which is 503 over HTTP. A call that returns with what it has done is let in up to twice the
 * limit. One state may return any number of times. So returning calls leave a share to new ones, and those of one
 * caller leave a share to those of others.
 */
export function checkCapacity(request: MonitoredRequest): void {
  const { loadMonitor: monitor } = request.settings
  const exceededLimit = isResumed(request)
    ? findExceededResumedCallLimit(monitor, request.callerKey)
    : findExceededNewCallLimit(monitor)
  if (exceededLimit === undefined) return
  monitor.rejectedCallCount++
  const { retryAfterMs, hardLimits } = monitor.rules
  const max = hardLimits[exceededLimit]
  const message = `The server is at its hard limit (${exceededLimit} is ${max}) and has not begun this call`
  const data = { reason: 'overloaded', limit: `hardLimit.${exceededLimit}`, max, retryAfterMs }
  throw new McpError(errorCodes.internal, `${message}: try again in ${retryAfterMs} ms`, { data })
}

/**
 * Notes that a handler begins for a request, or that its state is being opened. It is all that a call pays which
 * records nothing.
 */
export function beginCall(request: MonitoredRequest): void {
  const { loadMonitor: monitor } = request.settings
  beginMonitoredCall(monitor)
  if (!isResumed(request)) return
  monitor.resumedCount++
  incrementCount(monitor.resumedCountByCaller, request.callerKey)
}

/** Notes that the handler of a request has come to its end. */
export function endCall(request: MonitoredRequest): void {
  const { loadMonitor: monitor } = request.settings
  endMonitoredCall(monitor)
  if (!isResumed(request)) return
  monitor.resumedCount--
  decrementCount(monitor.resumedCountByCaller, request.callerKey)
}

/** Returns whether the load is at the hard limit. */
function isAtHardLimit(monitor: LoadMonitor): boolean {
  return monitor.runningCount >= monitor.rules.hardLimits.running || isEventLoopTooLate(monitor, 1)
}

type HardLimitName = keyof ResolvedHardLimits

/** Returns the limit that keeps a new call out. */
function findExceededNewCallLimit(monitor: LoadMonitor): HardLimitName | undefined {
  const { running } = monitor.rules.hardLimits
  if (monitor.runningCount >= running && monitor.runningCount - monitor.resumedCount >= newCallReserveOf(monitor))
    return 'running'
  return isEventLoopTooLate(monitor, 1) ? 'eventLoopDelayMs' : undefined
}

/** Returns the limit that rejects a returning call. */
function findExceededResumedCallLimit(monitor: LoadMonitor, callerKey: string): HardLimitName | undefined {
  if (monitor.runningCount >= monitor.rules.hardLimits.running && !canResume(monitor, callerKey)) return 'running'
  return isEventLoopTooLate(monitor, 2) ? 'eventLoopDelayMs' : undefined
}

function isEventLoopTooLate(monitor: LoadMonitor, factor: number): boolean {
  const maxDelayMs = monitor.rules.hardLimits.eventLoopDelayMs
  return maxDelayMs !== Number.POSITIVE_INFINITY && readCurrentLoad(monitor).eventLoopDelayMs > maxDelayMs * factor
}

function canResume(monitor: LoadMonitor, callerKey: string): boolean {
  const { running } = monitor.rules.hardLimits
  if (monitor.runningCount >= running * 2 || monitor.resumedCount >= running * 2 - newCallReserveOf(monitor))
    return false
  return (monitor.resumedCountByCaller.get(callerKey) ?? 0) < Math.max(1, Math.ceil(running * callerShare))
}

function newCallReserveOf({ rules }: LoadMonitor): number {
  return Math.ceil(rules.hardLimits.running * newCallShare)
}

/** A task is not a caller's request: it was let in when it was created. */
function isResumed({ params, journalStore }: MonitoredRequest): boolean {
  return journalStore === undefined && typeof params['requestState'] === 'string'
}

/** The options of a server that its load monitor depends on. */
interface LoadOptions {
  readonly shedding?: false | SheddingOptions | undefined
  readonly state?: StateCodec | false | undefined
}

interface LoadMonitorDeps {
  /** Milliseconds, from any beginning. */
  readonly now: () => number
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly warn: (warning: ServerWarning) => void
}

/**
 * Makes the load monitor of a server, on the platform's timers. Throws a RangeError for a hard limit that makes
 * no sense.
 */
export function createPlatformLoadMonitor(
  { shedding, state }: LoadOptions,
  { now, wallClock, warn }: LoadMonitorDeps,
): LoadMonitor {
  const onFailure = (error: unknown): void => {
    warn({
      code: 'load',
      message: `shedding.load failed, so only what the server measures itself is known: ${String(error)}`,
    })
  }
  return createLoadMonitor(sheddingRulesOf(shedding, state), {
    now,
    wallClock,
    // In workerd, the time until the next request would look like a delay. The timer must not keep a process alive.
    setTimer: isWorkerd() ? undefined : (callback, ms) => unref(setTimeout(callback, ms)),
    measureLoad: typeof shedding === 'object' ? shedding.load : undefined,
    onFailure,
    randomId: randomInstanceId,
  })
}

// Taken when the module loads, so that a test's fake timers do not keep a server from measuring.
const { setTimeout } = globalThis

/** For how long a server may be over a limit of readiness before balancers should pass it over. */
const unreadyAfterMs = 5000

/** A snapshot of a server's load. */
export function readServerLoad(monitor: LoadMonitor): Omit<McpServerLoad, 'unavailable'> {
  sampleLoad(monitor)
  const { shedCounts, rejectedCallCount, resumedCallCount } = monitor
  const isDraining = monitor.activeDrains.size > 0
  return {
    ready: !isDraining && !isAtHardLimit(monitor) && !isUnreadyForLong(monitor),
    draining: isDraining,
    ...readCurrentLoad(monitor),
    counters: { sheds: { ...shedCounts }, rejected: rejectedCallCount, resumed: resumedCallCount },
  }
}

function isUnreadyForLong({ unreadySince, source }: LoadMonitor): boolean {
  return unreadySince !== undefined && source.now() - unreadySince >= unreadyAfterMs
}

/** Adds to a count, one by default. */
function incrementCount(counts: Map<string, number>, key: string, amount = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + amount)
}

/** Subtracts one from a count, which is deleted at zero. */
function decrementCount(counts: Map<string, number>, key: string): void {
  if ((counts.get(key) ?? 0) > 1) incrementCount(counts, key, -1)
  else counts.delete(key)
}
