import { isWorkerd, requireSync, unref } from '@x/core'
import type { DrainOptions, JournalStore, Undrain } from '@x/exchange'
import { errorCodes, type JsonObject, McpError } from '@x/schema'
import { overloadedReason } from '@x/exchange/internal'
import type { StateCodec } from '@x/state-codec'
import { Drains, type EmitDrain } from './drain.ts'
import { FleetView, type FleetViewSource, type HandOffReport, randomInstanceId } from './fleet-view.ts'
import { computeRelativeLoad, isOverloaded, noOverload, overloadOf } from './overload.ts'
import { type ResolvedHardLimits, type SheddingRules, sheddingRulesOf } from './shedding-rules.ts'
import type { Load, McpServerLoad, SheddingOptions, HandOffReason } from './shedding-options.ts'
import type { ServerWarning } from '../request/report.ts'
import { waitForImmediate } from '../request/awaitable.ts'

/** The clocks and the measurements of a load monitor. */
interface LoadSource extends FleetViewSource {
  /**
   * Runs a function once after a time, without keeping the process alive. Undefined on platforms where a late timer
   * does not mean that the event loop was late.
   */
  readonly setTimer: ((callback: () => void, ms: number) => void) | undefined
  readonly measureLoad: SheddingOptions['load']
  /** Receives the error of a failed measurement. */
  readonly onFailure: (error: unknown) => void
  /** Receives the load of a server that has been far over its limits for {@link reportAfterMs}. */
  readonly onOverload: (load: Load) => void
}

/** The part of a request that the load monitor uses. */
interface MonitoredRequest {
  /** The key by which quotas count the caller. */
  readonly callerKey: string
  readonly params: JsonObject
  /** Set for a call that runs as a task. */
  readonly journalStore: JournalStore | undefined
}

/** A call that arrived with a state. */
interface HandedOffCall {
  readonly callId: string
  /** The number of hand-offs of the call for load. */
  readonly shedCount: number
  readonly handOffReport: HandOffReport | undefined
}

/** Milliseconds between two measurements. */
const measureIntervalMs = 100

/** Milliseconds between two allowances. A measurement needs this time to show the effect of the previous allowance. */
const allowanceIntervalMs = 200

/** The share of the running calls that one allowance permits to hand off. */
const allowanceShare = 1 / 8

/** The time by which timers may fire early, in milliseconds. */
const timerSlackMs = 1

/** The share of the hard limit that is reserved for new calls, so that returning calls cannot use it. */
// limit: share of new calls | share | the part of the hard limit that is reserved for new calls | 503 for calls that
//   return with `requestState`
const newCallShare = 1 / 4

/** The share of the hard limit that the returning calls of one caller may use once the server is beyond the limit. */
// limit: share of one caller | share | the part of the hard limit that returning calls of one caller may use | 503 for
//   that caller
const callerShare = 1 / 2

/** Milliseconds that a server may be far over a limit before the log says so. */
const reportAfterMs = 5000

/** Measures the load of a server, counts its calls, and decides which of them exceed its limits. */
export class LoadMonitor {
  readonly rules: SheddingRules
  /** The announced stops of the server. */
  readonly drains: Drains
  readonly #source: LoadSource
  /** The loads of other instances, from the reports in handed-off calls. */
  readonly #fleet: FleetView
  #runningCount = 0
  /** The number of running handlers whose calls arrived with a state. */
  #resumedCount = 0
  /** That number by the key of the caller. Callers without such handlers are absent. */
  readonly #resumedCountByCaller = new Map<string, number>()
  /** The number of running handlers whose calls are being handed off. */
  #pendingHandOffCount = 0
  #waitingRunCount = 0
  #drainCount = 0
  /** True if a timer measures the load periodically. */
  #isTicking = false
  /** The time at which the timer should fire next. */
  #tickDueAt = 0
  #measuredAt = Number.NEGATIVE_INFINITY
  #measuredLoad: Partial<Load> = {}
  /** The delay of the timer in milliseconds, smoothed. */
  #tickDelayMs = 0
  /** The values that are over the limits of shedding. */
  #overload = noOverload
  /** The values that are over the limits of reports. */
  #reportedOverload = noOverload
  /** The time at which the next report is due. Undefined while no value is over its limit of reports. */
  #reportDueAt: number | undefined
  /** The number of calls that may be handed off until the allowance is renewed. */
  #shedAllowance = 0
  #allowanceRenewedAt = Number.NEGATIVE_INFINITY
  readonly #handOffCounts: Record<HandOffReason, number> = { load: 0, policy: 0, stopping: 0 }
  #rejectedCallCount = 0
  #resumedCallCount = 0

  constructor(rules: SheddingRules, source: LoadSource) {
    this.rules = rules
    this.#source = source
    this.drains = new Drains(source.now)
    this.#fleet = new FleetView(source)
  }

  /** The number of running handlers. */
  get runningCount(): number {
    return this.#runningCount
  }

  /** The number of handler runs that wait for the next turn of the event loop. */
  get waitingRunCount(): number {
    return this.#waitingRunCount
  }

  /** The number of stops announced so far that hand calls off. */
  get drainCount(): number {
    return this.#drainCount
  }

  /** Announces a stop, as {@link Drains.beginDrain} does, and counts it. */
  beginDrain(options: DrainOptions = {}, emit: EmitDrain): Undrain {
    if (options.keepCalls !== true) this.#drainCount++
    return this.drains.beginDrain(options, emit)
  }

  /** Counts work that begins. */
  beginWork(): void {
    this.#runningCount++
    if (!this.#isTicking) this.#scheduleTick()
  }

  /** Counts work that has ended. */
  endWork(): void {
    this.#runningCount--
  }

  /**
   * Counts a request whose handler begins, or whose state is being opened. A call without steps and questions needs no
   * other method but {@link checkCapacity} and {@link endCall}.
   */
  beginCall(request: MonitoredRequest): void {
    this.beginWork()
    if (!isResumed(request)) return
    this.#resumedCount++
    const { callerKey } = request
    this.#resumedCountByCaller.set(callerKey, (this.#resumedCountByCaller.get(callerKey) ?? 0) + 1)
  }

  /** Counts a request whose handler has ended. */
  endCall(request: MonitoredRequest): void {
    this.endWork()
    if (!isResumed(request)) return
    this.#resumedCount--
    const count = this.#resumedCountByCaller.get(request.callerKey) ?? 0
    if (count > 1) this.#resumedCountByCaller.set(request.callerKey, count - 1)
    else this.#resumedCountByCaller.delete(request.callerKey)
  }

  /**
   * Rejects a call before its handler runs if the server is beyond its hard limit. The error is an internal error whose
   * data contain the time to try again. Over HTTP it is 503. A call that returns with its state is accepted up to twice
   * the limit, because its work would be lost. A client can send one state any number of times. A share of the limit is
   * therefore reserved for new calls, and the returning calls of one caller can use only a part of the rest.
   */
  checkCapacity(request: MonitoredRequest): void {
    const exceededLimit = isResumed(request)
      ? this.#findExceededResumedCallLimit(request.callerKey)
      : this.#findExceededNewCallLimit()
    if (exceededLimit === undefined) return
    this.#rejectedCallCount++
    const { retryAfterMs, hardLimits } = this.rules
    const max = hardLimits[exceededLimit]
    const message = `The server is at its hard limit (${exceededLimit} is ${max}) and has not begun this call`
    const data = { reason: overloadedReason, limit: `hardLimit.${exceededLimit}`, max, retryAfterMs }
    throw new McpError(errorCodes.internal, `${message}: try again in ${retryAfterMs} ms`, { data })
  }

  /** Counts a call that continues at this instance from the state with which it arrived. */
  countResumedCall(): void {
    this.#resumedCallCount++
  }

  /** Counts a running call that is about to be handed off. It no longer counts as load. */
  beginHandOff(): void {
    this.#pendingHandOffCount++
  }

  /** Counts the end of a run whose call was to be handed off. */
  endHandOff(): void {
    this.#pendingHandOffCount--
  }

  /** Counts a call that was handed off, by its reason. */
  countHandOff(reason: HandOffReason): void {
    this.#handOffCounts[reason]++
  }

  /** Records the load report in the state of a call that arrived, if there is one. */
  recordReceivedHandOff({ callId, shedCount, handOffReport }: HandedOffCall): void {
    if (handOffReport !== undefined) this.#fleet.recordReport(handOffReport, `${callId}/${shedCount}`)
  }

  /** Counts a hand-off, and returns the report for the state of the call. */
  createHandOffReport(): HandOffReport {
    return this.#fleet.registerHandOff(this.#computeRelativeLoad())
  }

  /**
   * Takes one hand-off from the allowance, and returns true, if the instance is over a soft limit and its load is
   * clearly higher than that of the other instances and of the instance that the call came from.
   */
  tryTakeHandOff(handOffReport: HandOffReport | undefined): boolean {
    this.#updateOverload()
    if (!isOverloaded(this.#overload) || this.#shedAllowance < 1) return false
    if (!this.#fleet.isWorthHandingOff(this.#computeRelativeLoad(), handOffReport)) return false
    this.#shedAllowance--
    return true
  }

  /** Resolves after the next turn of the event loop. The waiting run is counted in the meantime. */
  async yieldForTick(): Promise<void> {
    this.#waitingRunCount++
    await waitForImmediate()
    this.#waitingRunCount--
  }

  /** Returns the current load. */
  readLoad(): Load {
    const {
      running = this.#runningCount - this.#pendingHandOffCount,
      eventLoopDelayMs = this.#tickDelayMs,
      heapShare,
    } = this.#measuredLoad
    return { running, eventLoopDelayMs, heapShare }
  }

  /** Returns the load of a server at this moment. */
  readServerLoad(): Omit<McpServerLoad, 'unavailable'> {
    this.sampleLoad()
    // Health checks read the load, about once a second.
    this.#reportOverload()
    const draining = this.drains.isDraining
    return {
      // Measured load does not count: where all instances are busy, a balancer would be left without any.
      ready: !draining && !this.#isAtHardLimit(),
      draining,
      ...this.readLoad(),
      counters: {
        handOffs: { ...this.#handOffCounts },
        rejected: this.#rejectedCallCount,
        resumed: this.#resumedCallCount,
      },
    }
  }

  /**
   * Measures the load, unless the last measurement is recent. Callers use it, because the timer does not fire while the
   * event loop is blocked.
   */
  sampleLoad(): void {
    const now = this.#source.now()
    if (now - this.#measuredAt < measureIntervalMs - timerSlackMs) return
    this.#measuredAt = now
    if (this.#isTicking && now >= this.#tickDueAt) this.#tickDelayMs = (this.#tickDelayMs + now - this.#tickDueAt) / 2
    this.#measuredLoad = measureCustomLoad(this.#source)
    this.#updateOverload()
    if (now - this.#allowanceRenewedAt < allowanceIntervalMs - timerSlackMs) return
    this.#allowanceRenewedAt = now
    // If all calls were handed off at once, this instance would be idle and the other instances would be flooded.
    this.#shedAllowance = Math.max(1, Math.ceil(this.#runningCount * allowanceShare))
  }

  /**
   * Compares the load with the limits. It runs at each decision, because the number of running calls changes with every
   * call.
   */
  #updateOverload(): void {
    const { limits, reportLimits } = this.rules
    const load = this.readLoad()
    this.#overload = overloadOf(load, limits, this.#overload)
    this.#reportedOverload = overloadOf(load, reportLimits, this.#reportedOverload)
    if (isOverloaded(this.#reportedOverload)) this.#reportDueAt ??= this.#source.now() + reportAfterMs
    else this.#reportDueAt = undefined
  }

  /** Reports a load that has been too high for long, once until it is lower. */
  #reportOverload(): void {
    if (this.#reportDueAt === undefined || this.#source.now() < this.#reportDueAt) return
    this.#reportDueAt = Number.POSITIVE_INFINITY
    this.#source.onOverload(this.readLoad())
  }

  #computeRelativeLoad(): number {
    return computeRelativeLoad(this.readLoad(), this.rules.limits)
  }

  #scheduleTick(): void {
    const { setTimer, now } = this.#source
    if (setTimer === undefined) return
    this.#isTicking = true
    this.#tickDueAt = now() + measureIntervalMs
    setTimer(() => this.#handleTick(), measureIntervalMs)
  }

  #handleTick(): void {
    this.sampleLoad()
    // A handler that blocks leaves nothing running when the timer fires, and the next one may block again.
    if (this.#runningCount > 0 || isOverloaded(this.#overload)) return this.#scheduleTick()
    this.#isTicking = false
    // The last measurement does not apply to later calls.
    this.#tickDelayMs = 0
    this.#overload = noOverload
    this.#reportedOverload = noOverload
    this.#reportDueAt = undefined
  }

  /** Returns true if the load has reached the hard limit. */
  #isAtHardLimit(): boolean {
    return this.#runningCount >= this.rules.hardLimits.running || this.#isEventLoopTooLate(1)
  }

  /** Returns the limit that rejects a new call, or undefined if the call is accepted. */
  #findExceededNewCallLimit(): HardLimitName | undefined {
    const runningCount = this.#runningCount
    const { running } = this.rules.hardLimits
    if (runningCount >= running && runningCount - this.#resumedCount >= newCallReserveOf(running)) return 'running'
    return this.#isEventLoopTooLate(1) ? 'eventLoopDelayMs' : undefined
  }

  /** Returns the limit that rejects a returning call, or undefined if the call is accepted. */
  #findExceededResumedCallLimit(callerKey: string): HardLimitName | undefined {
    if (this.#runningCount >= this.rules.hardLimits.running && !this.#canResume(callerKey)) return 'running'
    return this.#isEventLoopTooLate(2) ? 'eventLoopDelayMs' : undefined
  }

  #isEventLoopTooLate(factor: number): boolean {
    const maxDelayMs = this.rules.hardLimits.eventLoopDelayMs
    return maxDelayMs !== Number.POSITIVE_INFINITY && this.readLoad().eventLoopDelayMs > maxDelayMs * factor
  }

  #canResume(callerKey: string): boolean {
    const { running } = this.rules.hardLimits
    if (this.#runningCount >= running * 2 || this.#resumedCount >= running * 2 - newCallReserveOf(running)) return false
    return (this.#resumedCountByCaller.get(callerKey) ?? 0) < Math.max(1, Math.ceil(running * callerShare))
  }
}

type HardLimitName = keyof ResolvedHardLimits

function newCallReserveOf(maxRunning: number): number {
  return Math.ceil(maxRunning * newCallShare)
}

/**
 * Returns true for a request with a state. A run of a task does not count, because the task was accepted when it was
 * created.
 */
function isResumed({ params, journalStore }: MonitoredRequest): boolean {
  return journalStore === undefined && typeof params['requestState'] === 'string'
}

function measureCustomLoad({ measureLoad: customMeasure, onFailure }: LoadSource): Partial<Load> {
  try {
    return customMeasure === undefined ? {} : requireSync('shedding.load', customMeasure())
  } catch (error) {
    onFailure(error)
    return {}
  }
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
  const onOverload = ({ running, eventLoopDelayMs, heapShare }: Load): void => {
    const heap = heapShare === undefined ? '' : `, ${Math.round(heapShare * 100)} % of the heap is used`
    const load = `the event loop is ${Math.round(eventLoopDelayMs)} ms late${heap}, and ${running} calls run`
    warn({ code: 'load', message: `The load has been too high for 5 s: ${load}` })
  }
  return new LoadMonitor(sheddingRulesOf(shedding, state), {
    now,
    wallClock,
    // In workerd, timers would measure the time until the next request. The timer must not keep the process alive.
    setTimer: isWorkerd() ? undefined : (callback, ms) => unref(setTimeout(callback, ms)),
    measureLoad: typeof shedding === 'object' ? shedding.load : undefined,
    onFailure,
    onOverload,
    randomId: randomInstanceId,
  })
}

// Read when the module loads, so that fake timers of a test do not stop the measurement.
// oxlint-disable-next-line no-restricted-properties -- measures how late the real event loop runs a timer
const { setTimeout } = globalThis
