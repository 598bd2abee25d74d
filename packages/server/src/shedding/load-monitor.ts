import { isWorkerd, requireSync, unref } from '@x/core'
import type { JournalStore } from '@x/exchange'
import { errorCodes, type JsonObject, McpError } from '@x/schema'
import { overloadedReason } from '@x/exchange/internal'
import type { StateCodec } from '@x/state-codec'
import { createEmptyFleetView, type FleetView, randomInstanceId } from './fleet-view.ts'
import { isOverloaded, noOverload, type Overload, overloadOf } from './overload.ts'
import { type ResolvedHardLimits, type SheddingRules, sheddingRulesOf } from './shedding-rules.ts'
import type { Load, McpServerLoad, SheddingOptions, HandOffReason } from './shedding-options.ts'
import type { ServerWarning } from '../request/report.ts'
import { waitForImmediate } from '../request/awaitable.ts'

/** The load of a server. The object is modified in place, because every call of a handler changes it. */
export interface LoadMonitor {
  readonly rules: SheddingRules
  readonly source: LoadSource
  /** The number of running handlers. */
  runningCount: number
  /** The number of running handlers whose calls arrived with a state. */
  resumedCount: number
  /**
   * The number of running handlers whose calls arrived with a state, by the key of the caller. Callers without such
   * handlers are absent.
   */
  readonly resumedCountByCaller: Map<string, number>
  /** The number of running handlers whose calls are being handed off. */
  pendingHandOffCount: number
  /** The number of handler runs that wait for the next turn of the event loop. */
  waitingRunCount: number
  /** The number of stops announced so far that hand calls off. */
  drainCount: number
  /** The announced stops that were not withdrawn. */
  readonly activeDrains: Set<ActiveDrain>
  /** True if a timer measures the load periodically. */
  isTicking: boolean
  /** The time at which the timer should fire next. */
  tickDueAt: number
  measuredAt: number
  measuredLoad: Partial<Load>
  /** The delay of the timer in milliseconds, smoothed. */
  tickDelayMs: number
  /** The values that are over the limits of shedding. */
  overload: Overload
  /** The values that are over the limits of readiness. */
  readinessOverload: Overload
  /** The time at which a value first exceeded its readiness limit. Undefined while no value exceeds its limit. */
  unreadySince: number | undefined
  /** The number of calls that may be handed off until the allowance is renewed. */
  shedAllowance: number
  allowanceRenewedAt: number
  /** The loads of other instances, from the reports in handed-off calls. */
  readonly fleet: FleetView
  readonly handOffCounts: Record<HandOffReason, number>
  rejectedCallCount: number
  resumedCallCount: number
}

/** A stop that was announced and not withdrawn. */
export interface ActiveDrain {
  /** True if running calls are handed off. False while balancers may still send calls to this instance. */
  readonly isHandingOff: boolean
  /** The time at which the stop was announced. */
  readonly beganAt: number
  /** Milliseconds from `beganAt` that running calls have to end. */
  readonly graceMs: number
}

/** The clocks and the measurements of a load monitor. */
interface LoadSource {
  /** Milliseconds from an arbitrary start. */
  readonly now: () => number
  /** Milliseconds since 1970, for the time in reports to other instances. */
  readonly wallClock: () => number
  /**
   * Runs a function once after a time, without keeping the process alive. Undefined on platforms where a late timer
   * does not mean that the event loop was late.
   */
  readonly setTimer: ((callback: () => void, ms: number) => void) | undefined
  readonly measureLoad: SheddingOptions['load']
  /** Receives the error of a failed measurement. */
  readonly onFailure: (error: unknown) => void
  /** Returns a random name for this instance. Two machines may have processes with the same id. */
  readonly randomId: () => string
}

/** Milliseconds between two measurements. */
const measureIntervalMs = 100

/** Milliseconds between two allowances. A measurement needs this time to show the effect of the previous allowance. */
const allowanceIntervalMs = 200

/** The share of the running calls that one allowance permits to hand off. */
const allowanceShare = 1 / 8

/** The time by which timers may fire early, in milliseconds. */
const timerSlackMs = 1

/** Creates a load monitor without measurements. */
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
    handOffCounts: { load: 0, policy: 0, stopping: 0 },
    rejectedCallCount: 0,
    resumedCallCount: 0,
  }
}

/** Counts a handler that begins. */
export function beginMonitoredCall(monitor: LoadMonitor): void {
  monitor.runningCount++
  if (!monitor.isTicking) scheduleTick(monitor)
}

/** Counts a handler that has ended. */
export function endMonitoredCall(monitor: LoadMonitor): void {
  monitor.runningCount--
}

/** Counts a running call that is about to be handed off. It no longer counts as load. */
export function beginHandOff(monitor: LoadMonitor): void {
  monitor.pendingHandOffCount++
}

/** Counts the end of a run whose call was to be handed off. */
export function endHandOff(monitor: LoadMonitor): void {
  monitor.pendingHandOffCount--
}

/** Takes one hand-off from the allowance. Returns false if the allowance is used up. */
export function tryTakeAllowance(monitor: LoadMonitor): boolean {
  if (monitor.shedAllowance < 1) return false
  monitor.shedAllowance--
  return true
}

/** Counts a call that was handed off, by its reason. */
export function countHandOff(monitor: LoadMonitor, reason: HandOffReason): void {
  monitor.handOffCounts[reason]++
}

/** Counts a call that continues at this instance from the state with which it arrived. */
export function countResumedCall(monitor: LoadMonitor): void {
  monitor.resumedCallCount++
}

/** Resolves after the next turn of the event loop. The waiting run is counted in the meantime. */
export async function yieldForTick(monitor: LoadMonitor): Promise<void> {
  monitor.waitingRunCount++
  await waitForImmediate()
  monitor.waitingRunCount--
}

/** Returns the current load. */
export function readCurrentLoad(monitor: LoadMonitor): Load {
  const {
    running = monitor.runningCount - monitor.pendingHandOffCount,
    eventLoopDelayMs = monitor.tickDelayMs,
    heapShare,
  } = monitor.measuredLoad
  return { running, eventLoopDelayMs, heapShare }
}

/**
 * Measures the load, unless the last measurement is recent. Callers use it, because the timer does not fire while the
 * event loop is blocked.
 */
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
  // If all calls were handed off at once, this instance would be idle and the other instances would be flooded.
  monitor.shedAllowance = Math.max(1, Math.ceil(monitor.runningCount * allowanceShare))
}

/**
 * Compares the load with the limits. It runs at each decision, because the number of running calls changes with every
 * call.
 */
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
    return customMeasure === undefined ? {} : requireSync('shedding.load', customMeasure())
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
  // The last measurement does not apply to later calls.
  monitor.tickDelayMs = 0
  monitor.overload = noOverload
  monitor.readinessOverload = noOverload
  monitor.unreadySince = undefined
}

/** The part of a request that the load monitor uses. */
interface MonitoredRequest {
  /** The key by which quotas count the caller. */
  readonly callerKey: string
  readonly params: JsonObject
  /** Set for a call that runs as a task. */
  readonly journalStore: JournalStore | undefined
  readonly settings: { readonly loadMonitor: LoadMonitor }
}

/** The share of the hard limit that is reserved for new calls, so that returning calls cannot use it. */
const newCallShare = 1 / 4

/** The share of the hard limit that the returning calls of one caller may use once the server is beyond the limit. */
const callerShare = 1 / 2

/**
 * Rejects a call before its handler runs if the server is beyond its hard limit. The error is an internal error whose
 * data contain the time to try again. Over HTTP it is 503. A call that returns with its state is accepted up to twice
 * the limit, because its work would be lost. A client can send one state any number of times. A share of the limit is
 * therefore reserved for new calls, and the returning calls of one caller can use only a part of the rest.
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
  const data = { reason: overloadedReason, limit: `hardLimit.${exceededLimit}`, max, retryAfterMs }
  throw new McpError(errorCodes.internal, `${message}: try again in ${retryAfterMs} ms`, { data })
}

/**
 * Counts a request whose handler begins, or whose state is being opened. A call without steps and questions needs no
 * other function of this module.
 */
export function beginCall(request: MonitoredRequest): void {
  const { loadMonitor: monitor } = request.settings
  beginMonitoredCall(monitor)
  if (!isResumed(request)) return
  monitor.resumedCount++
  incrementCount(monitor.resumedCountByCaller, request.callerKey)
}

/** Counts a request whose handler has ended. */
export function endCall(request: MonitoredRequest): void {
  const { loadMonitor: monitor } = request.settings
  endMonitoredCall(monitor)
  if (!isResumed(request)) return
  monitor.resumedCount--
  decrementCount(monitor.resumedCountByCaller, request.callerKey)
}

/** Returns true if the load has reached the hard limit. */
function isAtHardLimit(monitor: LoadMonitor): boolean {
  return monitor.runningCount >= monitor.rules.hardLimits.running || isEventLoopTooLate(monitor, 1)
}

type HardLimitName = keyof ResolvedHardLimits

/** Returns the limit that rejects a new call, or undefined if the call is accepted. */
function findExceededNewCallLimit(monitor: LoadMonitor): HardLimitName | undefined {
  const { running } = monitor.rules.hardLimits
  if (monitor.runningCount >= running && monitor.runningCount - monitor.resumedCount >= newCallReserveOf(monitor))
    return 'running'
  return isEventLoopTooLate(monitor, 1) ? 'eventLoopDelayMs' : undefined
}

/** Returns the limit that rejects a returning call, or undefined if the call is accepted. */
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

/**
 * Returns true for a request with a state. A run of a task does not count, because the task was accepted when it was
 * created.
 */
function isResumed({ params, journalStore }: MonitoredRequest): boolean {
  return journalStore === undefined && typeof params['requestState'] === 'string'
}

interface LoadMonitorDeps {
  /** Milliseconds from an arbitrary start. */
  readonly now: () => number
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly warn: (warning: ServerWarning) => void
}

/**
 * Makes the load monitor of a server, with the timers of the platform. Throws a RangeError for an invalid hard limit.
 */
export function createPlatformLoadMonitor(
  {
    shedding,
    state,
  }: { readonly shedding?: false | SheddingOptions | undefined; readonly state?: StateCodec | false | undefined },
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
    // In workerd, timers would measure the time until the next request. The timer must not keep the process alive.
    setTimer: isWorkerd() ? undefined : (callback, ms) => unref(setTimeout(callback, ms)),
    measureLoad: typeof shedding === 'object' ? shedding.load : undefined,
    onFailure,
    randomId: randomInstanceId,
  })
}

// Read when the module loads, so that fake timers of a test do not stop the measurement.
const { setTimeout } = globalThis

/** Milliseconds that a server may be over a readiness limit before it reports that it is not ready. */
const unreadyAfterMs = 5000

/** Returns the load of a server at this moment. */
export function readServerLoad(monitor: LoadMonitor): Omit<McpServerLoad, 'unavailable'> {
  sampleLoad(monitor)
  const { handOffCounts, rejectedCallCount, resumedCallCount } = monitor
  const isDraining = monitor.activeDrains.size > 0
  return {
    ready: !isDraining && !isAtHardLimit(monitor) && !isUnreadyForLong(monitor),
    draining: isDraining,
    ...readCurrentLoad(monitor),
    counters: { handOffs: { ...handOffCounts }, rejected: rejectedCallCount, resumed: resumedCallCount },
  }
}

function isUnreadyForLong({ unreadySince, source }: LoadMonitor): boolean {
  return unreadySince !== undefined && source.now() - unreadySince >= unreadyAfterMs
}

/** Adds to a count, one by default. */
function incrementCount(counts: Map<string, number>, key: string, amount = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + amount)
}

/** Subtracts one from a count, and deletes the count at zero. */
function decrementCount(counts: Map<string, number>, key: string): void {
  if ((counts.get(key) ?? 0) > 1) incrementCount(counts, key, -1)
  else counts.delete(key)
}
