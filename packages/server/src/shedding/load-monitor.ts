import { isWorkerd, requireSync, unref } from '@x/core'
import type { DrainOptions, JournalStore, Undrain } from '@x/exchange'
import { errorCodes, type JsonObject, McpError } from '@x/schema'
import { overloadedReason } from '@x/exchange/internal'
import type { StateCodec } from '@x/state-codec'
import { Drains, type EmitDrain } from './drain.ts'
import { FleetView, type FleetViewSource, type HandOffReport, randomInstanceId } from './fleet-view.ts'
import { computeRelativeLoad, isOverloaded, noOverload, overloadOf } from './overload.ts'
import { type SheddingRules, sheddingRulesOf } from './shedding-rules.ts'
import type { Load, McpServerLoad, SheddingOptions, HandOffReason } from './shedding-options.ts'
import type { ServerWarning } from '../request/report.ts'
import { waitForImmediate } from '../request/awaitable.ts'

interface LoadSource extends FleetViewSource {
  /**
   * Runs a function once after a time, without keeping the process alive. Undefined on platforms where a late timer
   * does not mean that the event loop was late.
   */
  readonly setTimer: ((callback: () => void, ms: number) => void) | undefined
  readonly measureLoad: SheddingOptions['load']
  readonly onFailure: (error: unknown) => void
  readonly onOverload: (load: Load) => void
}

interface MonitoredRequest {
  readonly callerKey: string
  readonly params: JsonObject
  readonly journalStore: JournalStore | undefined
}

const measureIntervalMs = 100

/** Milliseconds between two allowances. A measurement needs this time to show what the previous allowance did. */
const allowanceIntervalMs = 200

/** Share of the running calls that one allowance permits to hand off. */
const allowanceShare = 1 / 8

/** Timers may fire early by this much. */
const timerSlackMs = 1

// limit: share of new calls | share | the part of the hard limit that is reserved for new calls | 503 for calls that
//   return with `requestState`
const newCallShare = 1 / 4

// limit: share of one caller | share | the part of the hard limit that returning calls of one caller may use | 503 for
//   that caller
const callerShare = 1 / 2

/** Milliseconds that a server may be far over a limit before the log says so. */
const reportAfterMs = 5000

/** Measures a server's load, counts its calls, and decides which of them exceed its limits. */
export class LoadMonitor {
  readonly rules: SheddingRules
  readonly drains: Drains
  readonly #source: LoadSource
  readonly #fleet: FleetView
  #runningCount = 0
  #resumedCount = 0
  /** Resumed calls in flight per caller; entries go at zero. Bounded by `calls` of the ledger. */
  readonly #resumedCountByCaller = new Map<string, number>()
  #pendingHandOffCount = 0
  #waitingRunCount = 0
  #drainCount = 0
  #isTicking = false
  #tickDueAt = 0
  #measuredAt = Number.NEGATIVE_INFINITY
  #measuredLoad: Partial<Load> = {}
  #tickDelayMs = 0
  #overload = noOverload
  #reportedOverload = noOverload
  #reportDueAt: number | undefined
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

  /** Running handlers. */
  get runningCount(): number {
    return this.#runningCount
  }

  /** Handler runs that wait for the next turn of the event loop. */
  get waitingRunCount(): number {
    return this.#waitingRunCount
  }

  /** Stops announced so far that hand calls off. */
  get drainCount(): number {
    return this.#drainCount
  }

  /** Announces a stop, as {@link Drains.beginDrain} does, and counts it. */
  beginDrain(options: DrainOptions = {}, emit: EmitDrain): Undrain {
    if (options.keepCalls !== true) this.#drainCount++
    return this.drains.beginDrain(options, emit)
  }

  beginWork(): void {
    this.#runningCount++
    if (!this.#isTicking) this.#scheduleTick()
  }

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

  endCall(request: MonitoredRequest): void {
    this.endWork()
    if (!isResumed(request)) return
    this.#resumedCount--
    const count = this.#resumedCountByCaller.get(request.callerKey) ?? 0
    if (count > 1) this.#resumedCountByCaller.set(request.callerKey, count - 1)
    else this.#resumedCountByCaller.delete(request.callerKey)
  }

  /**
   * Rejects a call before its handler runs if the server is beyond its hard limit, with an internal error (503 over
   * HTTP) whose data says when to try again. A call that returns with its state is accepted up to twice the limit,
   * because its work would be lost. But a client can send one state any number of times, so a share of the limit is
   * reserved for new calls, and one caller's returning calls can use only a part of the rest.
   */
  checkCapacity(request: MonitoredRequest): void {
    const exceededLimit = isResumed(request)
      ? this.#findExceededResumedCallLimit(request.callerKey)
      : this.#findExceededNewCallLimit()
    if (exceededLimit === undefined) return
    this.#rejectedCallCount++
    const { retryAfterMs, hardLimits } = this.rules
    const max = hardLimits[exceededLimit]
    const message = `The server is at its hard limit (${exceededLimit} is ${max}) and has not begun this request`
    const data = { reason: overloadedReason, limit: `hardLimit.${exceededLimit}`, max, retryAfterMs }
    throw new McpError(errorCodes.internal, `${message}: try again in ${retryAfterMs} ms`, { data })
  }

  /** For a call that continues at this instance from the state with which it arrived. */
  countResumedCall(): void {
    this.#resumedCallCount++
  }

  /** For a running call that is about to be handed off. It no longer counts as load. */
  beginHandOff(): void {
    this.#pendingHandOffCount++
  }

  /** For the end of a run whose call was to be handed off. */
  endHandOff(): void {
    this.#pendingHandOffCount--
  }

  countHandOff(reason: HandOffReason): void {
    this.#handOffCounts[reason]++
  }

  /** Records the load report in an arriving call's state, if there is one. `handOffId` names this hand-off. */
  recordReceivedHandOff(handOffReport: HandOffReport | undefined, handOffId: string): void {
    if (handOffReport !== undefined) this.#fleet.recordReport(handOffReport, handOffId)
  }

  /** Counts a hand-off, and returns the report for the call's state. */
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

  /** Resolves after the next turn of the event loop. Meanwhile the run counts as waiting. */
  async yieldForTick(): Promise<void> {
    this.#waitingRunCount++
    await waitForImmediate()
    this.#waitingRunCount--
  }

  readLoad(): Load {
    const {
      running = this.#runningCount - this.#pendingHandOffCount,
      eventLoopDelayMs = this.#tickDelayMs,
      heapShare,
    } = this.#measuredLoad
    return { running, eventLoopDelayMs, heapShare }
  }

  /** The load at this moment, for a health check. */
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

  /** Runs at each decision, because every call changes how many are running. */
  #updateOverload(): void {
    const { limits, reportLimits } = this.rules
    const load = this.readLoad()
    this.#overload = overloadOf(load, limits, this.#overload)
    this.#reportedOverload = overloadOf(load, reportLimits, this.#reportedOverload)
    if (isOverloaded(this.#reportedOverload)) this.#reportDueAt ??= this.#source.now() + reportAfterMs
    else this.#reportDueAt = undefined
  }

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

  #isAtHardLimit(): boolean {
    return this.#runningCount >= this.rules.hardLimits.running || this.#isEventLoopTooLate(1)
  }

  #findExceededNewCallLimit(): HardLimitName | undefined {
    const runningCount = this.#runningCount
    const { running } = this.rules.hardLimits
    if (runningCount >= running && runningCount - this.#resumedCount >= newCallReserveOf(running)) return 'running'
    return this.#isEventLoopTooLate(1) ? 'eventLoopDelayMs' : undefined
  }

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

type HardLimitName = keyof SheddingRules['hardLimits']

function newCallReserveOf(maxRunning: number): number {
  return Math.ceil(maxRunning * newCallShare)
}

/** True for a request with a state. A task's run does not count, because the task was accepted when it was created. */
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

/** Takes the platform's timers. Throws a RangeError for an invalid hard limit. */
export function createPlatformLoadMonitor(
  {
    shedding,
    state,
  }: { readonly shedding?: false | SheddingOptions | undefined; readonly state?: StateCodec | false | undefined },
  {
    now,
    wallClock,
    warn,
  }: Pick<FleetViewSource, 'now' | 'wallClock'> & { readonly warn: (warning: ServerWarning) => void },
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
    warn({ code: 'load', message: `The server has been overloaded for 5 s: ${load}` })
  }
  return new LoadMonitor(sheddingRulesOf(shedding, state), {
    now,
    wallClock,
    // In workerd, timers would measure the time until the next request. The timer must not keep the process alive.
    setTimer: isWorkerd() ? undefined : (callback, ms) => unref(platformSetTimeout(callback, ms)),
    measureLoad: typeof shedding === 'object' ? shedding.load : undefined,
    onFailure,
    onOverload,
    randomId: randomInstanceId,
  })
}

// Read when the module loads, so that fake timers of a test do not stop the measurement.
// oxlint-disable-next-line no-restricted-properties -- measures how late the real event loop runs a timer
const platformSetTimeout = globalThis.setTimeout
