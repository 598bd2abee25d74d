import { requireSync } from '@x/core'
import {
  type HandOffReport,
  recordLoadReport,
  isWorthHandingOff,
  type ClockTimes,
  registerHandOff,
} from './fleet-view.ts'
import {
  updateOverload,
  type LoadMonitor,
  readCurrentLoad,
  sampleLoad,
  tryTakeAllowance,
  yieldForTick,
} from './load-monitor.ts'
import { isOverloaded, computeRelativeLoad } from './overload.ts'
import type { SheddingCall, SheddingSettings, HandOffReason } from './shedding-options.ts'

/**
 * The number of rounds with questions that do not reduce the hand-off budget of a call. Most clients allow ten rounds,
 * which is more than these rounds and the budget together.
 */
const freeRoundCount = 3

/** The number of hand-offs by stopping instances that do not reduce the budget. */
const freeStopCount = 2

/**
 * The share of the grace period for which a stopping instance keeps running a call before it hands the call off. The
 * index is the number of stopping instances that have handed the call off before. Without this wait, a call could visit
 * every stopping instance of a deployment. With a grace period of 10 seconds, a call of 35 seconds moves at most four
 * times. The last quarter of the grace period is for the running step of the handler.
 */
const graceShares = [0, 1 / 2, 1 / 2, 3 / 4] as const

/**
 * The number of questions and hand-offs after which a stopping instance keeps a call, because many clients give up at
 * the tenth.
 */
const maxUnfinishedResults = 9

/** Milliseconds that all computing handlers of a server together may take before the event loop does other work. */
const workSliceMs = 10

/** The work of one request on this instance. It begins with the first step or checkpoint of the request. */
export class InstanceWork {
  readonly #monitor: LoadMonitor
  readonly #now: () => number
  readonly #startedAt: number
  /** The time when the request last let the event loop do other work. */
  #yieldedAt: number
  #isBound = false

  constructor(monitor: LoadMonitor, now: () => number) {
    this.#monitor = monitor
    this.#now = now
    this.#startedAt = now()
    this.#yieldedAt = this.#startedAt
  }

  /** Milliseconds since the work began. */
  get elapsedMs(): number {
    return this.#now() - this.#startedAt
  }

  /** True if the call must stay on this instance. */
  get isBound(): boolean {
    return this.#isBound
  }

  /** Keeps the call on this instance, because an attempt to hand it off has failed. */
  bindToInstance(): void {
    this.#isBound = true
  }

  /**
   * Lets the event loop do other work if the handler has computed long enough, and otherwise returns undefined. Without
   * this, a handler that only computes and saves checkpoints would block the event loop.
   */
  yieldIfDue(): Promise<void> | undefined {
    if (this.#now() - this.#yieldedAt < workSliceMs / (1 + this.#monitor.waitingRunCount)) return undefined
    return this.#yield()
  }

  async #yield(): Promise<void> {
    await yieldForTick(this.#monitor)
    this.#yieldedAt = this.#now()
  }
}

/** The part of a request that its work belongs to. */
interface WorkingRequest {
  readonly settings: { readonly loadMonitor: LoadMonitor; readonly now: () => number }
  work: InstanceWork | undefined
}

/** Returns the work of a request on this instance. Its first step or checkpoint begins the work. */
export function ensureInstanceWork(request: WorkingRequest): InstanceWork {
  request.work ??= new InstanceWork(request.settings.loadMonitor, request.settings.now)
  return request.work
}

/** A call at a step or checkpoint, from where another instance could continue it. */
export interface CallAtBoundary extends SheddingCall {
  /** The number of announced stops when the call arrived. */
  readonly drainCount: number
  /** The number of earlier hand-offs of the call by stopping instances. */
  readonly stopCount: number
  /** The report of the instance that handed the call off to this one. */
  readonly handOffReport: HandOffReport | undefined
}

/**
 * Returns the reason to hand a call off now, or undefined to keep it. If the policy throws, returns its error, and the
 * call stays.
 */
export function decideHandOff(
  monitor: LoadMonitor,
  boundary: CallAtBoundary,
): HandOffReason | { readonly error: unknown } | undefined {
  if (monitor.activeDrains.size > 0) return decideHandOffOnStop(monitor, boundary)
  const { drainCount: _, stopCount, handOffReport, ...call } = boundary
  const { rules } = monitor
  sampleLoad(monitor)
  if (call.workedMs < rules.minWorkMs) return undefined
  const usedBudget = Math.max(0, call.roundCount - freeRoundCount) + Math.max(0, stopCount - freeStopCount)
  if (call.shedCount >= rules.handOffBudget - usedBudget) return undefined
  if (rules.policy !== undefined) return applyPolicy(monitor, rules.policy, call)
  return shouldHandOffForLoad(monitor, handOffReport) ? 'load' : undefined
}

/**
 * Decides about a call of a stopping instance. Load and budget are ignored, because a call that stays would be lost
 * with the instance. A call that arrived after the stop was announced first runs for `minWorkMs`.
 */
function decideHandOffOnStop(
  monitor: LoadMonitor,
  { drainCount, stopCount, shedCount, roundCount, workedMs }: CallAtBoundary,
): HandOffReason | undefined {
  const drains = [...monitor.activeDrains].filter(({ isHandingOff }) => isHandingOff)
  if (drains.length === 0 || roundCount + shedCount + stopCount >= maxUnfinishedResults) return undefined
  const graceShare = graceShares[stopCount] ?? 3 / 4
  const now = monitor.source.now()
  if (drains.every(({ beganAt, graceMs }) => now < beganAt + graceMs * graceShare)) return undefined
  return monitor.drainCount > drainCount || workedMs >= monitor.rules.minWorkMs ? 'stopping' : undefined
}

function applyPolicy(
  monitor: LoadMonitor,
  policy: NonNullable<SheddingSettings['policy']>,
  call: SheddingCall,
): ReturnType<typeof decideHandOff> {
  try {
    return requireSync('shedding.policy', policy(readCurrentLoad(monitor), call)) === true ? 'policy' : undefined
  } catch (error) {
    return { error }
  }
}

/**
 * Returns true if the instance is over a soft limit and has allowance left. In addition, its load must be clearly
 * higher than that of the other instances and of the instance that the call came from. Takes one hand-off from the
 * allowance if it returns true.
 */
function shouldHandOffForLoad(monitor: LoadMonitor, handOffReport: HandOffReport | undefined): boolean {
  updateOverload(monitor)
  if (!isOverloaded(monitor.overload) || monitor.shedAllowance < 1) return false
  const relativeLoad = currentRelativeLoadOf(monitor)
  return (
    isWorthHandingOff(monitor.fleet, { relativeLoad, handOffReport }, clockTimesOf(monitor)) &&
    tryTakeAllowance(monitor)
  )
}

/** A call that arrived with a state. */
export interface HandedOffCall {
  readonly callId: string
  /** The number of hand-offs of the call for load. */
  readonly shedCount: number
  readonly handOffReport: HandOffReport | undefined
}

/** Records the load report in the state of a call that arrived, if there is one. */
export function recordReceivedHandOff(monitor: LoadMonitor, { callId, shedCount, handOffReport }: HandedOffCall): void {
  if (handOffReport !== undefined)
    recordLoadReport(monitor.fleet, { handOffReport, callId: `${callId}/${shedCount}` }, clockTimesOf(monitor))
}

/** Counts a hand-off, and returns the report for the state of the call. */
export function createHandOffReport(monitor: LoadMonitor): HandOffReport {
  return registerHandOff(monitor.fleet, currentRelativeLoadOf(monitor), clockTimesOf(monitor))
}

function clockTimesOf({ source }: LoadMonitor): ClockTimes {
  return { monotonicMs: source.now(), epochMs: source.wallClock() }
}

function currentRelativeLoadOf(monitor: LoadMonitor): number {
  return computeRelativeLoad(readCurrentLoad(monitor), monitor.rules.limits)
}
