import {
  type HandOffReport,
  recordLoadReport,
  isWorthHandingOff,
  type ClockTimes,
  registerHandOff,
} from './fleet-view.ts'
import { updateOverload, type LoadMonitor, readCurrentLoad, sampleLoad, tryTakeAllowance } from './load-monitor.ts'
import { isOverloaded, computeRelativeLoad } from './overload.ts'
import type { SheddingCall, SheddingSettings, ShedReason } from './shedding-options.ts'

/** The questions that a call may ask without losing budget: with them it stays within clients' ten rounds. */
const freeRoundCount = 3

/** As many hand-offs of instances that stop cost nothing of it either. */
const freeStopCount = 2

/**
 * The share of the grace that a call uses before it is handed off again, by its hand-offs of stopping instances so far.
 * A call that moves at once may meet every stop of a deployment. With these, a call of 35 seconds moves at most four
 * times where the grace is 10 seconds. A quarter is left for the step that a handler is in.
 */
const graceShares = [0, 1 / 2, 1 / 2, 3 / 4] as const

/**
 * Results that are not final, questions and hand-offs together, after which a stopping instance keeps a call: many
 * clients give up at the tenth.
 */
const maxUnfinishedResults = 9

/** A call at a boundary, from where another instance could continue. */
export interface CallAtBoundary extends SheddingCall {
  /** The stops announced when the call came. */
  readonly drainCount: number
  /** Hand-offs of the call because an instance was stopping. */
  readonly stopCount: number
  /** The load of the instance that it came from. */
  readonly handOff: HandOffReport | undefined
}

/**
 * Decides whether a call leaves this instance now, and why. Gives the error of a policy that throws, and then it stays.
 */
export function decideHandOff(
  monitor: LoadMonitor,
  boundary: CallAtBoundary,
): ShedReason | { readonly error: unknown } | undefined {
  if (monitor.activeDrains.size > 0) return decideHandOffOnStop(monitor, boundary)
  const { drainCount: _, stopCount, handOff, ...call } = boundary
  const { rules } = monitor
  sampleLoad(monitor)
  if (call.workedMs < rules.minWorkMs) return undefined
  const usedBudget = Math.max(0, call.roundCount - freeRoundCount) + Math.max(0, stopCount - freeStopCount)
  if (call.shedCount >= rules.handOffBudget - usedBudget) return undefined
  if (rules.policy !== undefined) return applyPolicy(monitor, rules.policy, call)
  return shouldHandOffForLoad(monitor, handOff) ? 'load' : undefined
}

/**
 * Decides for an instance that stops. Neither its load nor the budget counts: a call that stayed would be lost with the
 * instance. A call that came after the stop was announced works for its minimum first.
 */
function decideHandOffOnStop(
  monitor: LoadMonitor,
  { drainCount, stopCount, shedCount, roundCount, workedMs }: CallAtBoundary,
): ShedReason | undefined {
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
    return policy(readCurrentLoad(monitor), call) === true ? 'policy' : undefined
  } catch (error) {
    return { error }
  }
}

/**
 * Returns true when the instance is over a soft limit, has not handed off as many calls as it may between two
 * measurements, and is clearly worse off than the others and than the instance that the call came from. The call then
 * has used one of the allowance.
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

/** A call that arrives with its state. */
export interface HandedOffCall {
  readonly callId: string
  /** Hand-offs of the call for load. */
  readonly shedCount: number
  readonly handOff: HandOffReport | undefined
}

/** Records the report of a call that was handed off, when it arrives. */
export function recordReceivedHandOff(
  monitor: LoadMonitor,
  { callId, shedCount, handOff: handOffReport }: HandedOffCall,
): void {
  if (handOffReport !== undefined)
    recordLoadReport(monitor.fleet, { handOffReport, callId: `${callId}/${shedCount}` }, clockTimesOf(monitor))
}

/** Notes that a call is handed off, and returns the report for its state. */
export function createHandOffReport(monitor: LoadMonitor): HandOffReport {
  return registerHandOff(monitor.fleet, currentRelativeLoadOf(monitor), clockTimesOf(monitor))
}

function clockTimesOf({ source }: LoadMonitor): ClockTimes {
  return { monotonicMs: source.now(), epochMs: source.wallClock() }
}

function currentRelativeLoadOf(monitor: LoadMonitor): number {
  return computeRelativeLoad(readCurrentLoad(monitor), monitor.rules.limits)
}
