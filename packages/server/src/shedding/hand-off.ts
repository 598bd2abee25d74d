import { requireSync } from '@x/core'
import type { HandOffReport } from './fleet-view.ts'
import type { LoadMonitor } from './load-monitor.ts'
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
    await this.#monitor.yieldForTick()
    this.#yieldedAt = this.#now()
  }
}

/** Returns the work of a request on this instance. Its first step or checkpoint begins the work. */
export function ensureInstanceWork(request: {
  readonly settings: { readonly loadMonitor: LoadMonitor; readonly now: () => number }
  work: InstanceWork | undefined
}): InstanceWork {
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
  if (monitor.drains.isDraining) return decideHandOffOnStop(monitor, boundary)
  const { drainCount: _, stopCount, handOffReport, ...call } = boundary
  const { rules } = monitor
  monitor.sampleLoad()
  if (call.workedMs < rules.minWorkMs) return undefined
  const usedBudget = Math.max(0, call.roundCount - freeRoundCount) + Math.max(0, stopCount - freeStopCount)
  if (call.shedCount >= rules.handOffBudget - usedBudget) return undefined
  if (rules.policy !== undefined) return applyPolicy(monitor, rules.policy, call)
  return monitor.tryTakeHandOff(handOffReport) ? 'load' : undefined
}

/**
 * Decides about a call of a stopping instance. Load and budget are ignored, because a call that stays would be lost
 * with the instance. A call that arrived after the stop was announced first runs for `minWorkMs`.
 */
function decideHandOffOnStop(
  monitor: LoadMonitor,
  { drainCount, stopCount, shedCount, roundCount, workedMs }: CallAtBoundary,
): HandOffReason | undefined {
  if (roundCount + shedCount + stopCount >= maxUnfinishedResults) return undefined
  if (!monitor.drains.isGraceUsed(graceShares[stopCount] ?? 3 / 4)) return undefined
  return monitor.drainCount > drainCount || workedMs >= monitor.rules.minWorkMs ? 'stopping' : undefined
}

function applyPolicy(
  monitor: LoadMonitor,
  policy: NonNullable<SheddingSettings['policy']>,
  call: SheddingCall,
): ReturnType<typeof decideHandOff> {
  try {
    return requireSync('shedding.policy', policy(monitor.readLoad(), call)) === true ? 'policy' : undefined
  } catch (error) {
    return { error }
  }
}
