import { requireSync } from '@x/core'
import type { HandOffReport } from './fleet-view.ts'
import type { LoadMonitor } from './load-monitor.ts'
import type { SheddingCall, SheddingSettings, HandOffReason } from './shedding-options.ts'

/**
 * Rounds with questions that do not reduce a call's hand-off budget. Most clients allow ten rounds, which is more than
 * these and the budget together.
 */
const freeRoundCount = 3

/** Hand-offs by stopping instances that do not reduce the budget. */
const freeStopCount = 2

/**
 * Share of the grace period for which a stopping instance keeps a call running before it hands it off, by how many
 * stopping instances have handed it off before. Without this wait, a call could visit every stopping instance of a
 * deployment. With a grace period of 10 seconds, a call of 35 seconds moves at most six times. The last quarter is for
 * the handler's running step.
 */
const graceShares = [0, 1 / 2, 1 / 2, 3 / 4] as const

/**
 * After this many questions and hand-offs, a stopping instance keeps a call, because many clients give up at the tenth.
 */
const maxUnfinishedResults = 9

/** Milliseconds that all computing handlers of a server together may take before the event loop does other work. */
const workSliceMs = 10

/** One request's work on this instance, from its first step or checkpoint on. */
export class InstanceWork {
  readonly #monitor: LoadMonitor
  readonly #now: () => number
  readonly #startedAt: number
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

  /** Keeps the call here, because an attempt to hand it off has failed. */
  bindToInstance(): void {
    this.#isBound = true
  }

  /**
   * Lets the event loop do other work if the handler has computed long enough; otherwise undefined. Without this, a
   * handler that only computes and saves checkpoints would block the event loop.
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

/** A call at a step or checkpoint, from where another instance could continue it. */
export interface CallAtBoundary extends SheddingCall {
  /** How many stops had been announced when the call arrived. */
  readonly drainCount: number
  /** How often stopping instances have handed the call off. */
  readonly stopCount: number
  /** Report of the instance that handed the call off to this one. */
  readonly handOffReport: HandOffReport | undefined
}

/**
 * Why to hand a call off now, or undefined to keep it. If the policy throws, its error is returned and the call stays.
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
 * For a call of a stopping instance. Load and budget are ignored, because a call that stays would be lost with the
 * instance. A call that arrived after the stop was announced first runs for `minWorkMs`.
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
