import { report } from '../request/scope.ts'
import { nextTurn } from '../shedding/event-loop.ts'
import { type Gauge, isOverloaded, loadOf, measure } from '../shedding/gauge.ts'
import type { SheddingCall, ShedReason } from '../shedding/shedding-options.ts'
import { journalOf, moveOn, type Run, startAgain } from './run.ts'

/** For how long the handlers of a server may compute, together, before everything else has its turn. */
const sliceMs = 10

/** How many questions a call may ask without losing of its budget of sheds: with it they stay within clients' ten rounds. */
const freeRounds = 3

/** Notes that a run begins to record: from now on it works, as far as shedding goes. */
export function beginWork(run: Run): void {
  if (run.workedFrom !== undefined) return
  run.workedFrom = run.scope.settings.now()
  run.turnedAt = run.workedFrom
}

/**
 * The end of a step, or a checkpoint that was saved: what the call has done so far is recorded, so it may go on at another
 * instance, or later. Undefined when it goes on here at once; otherwise a promise that resolves when it does, or never.
 */
export function passBoundary(run: Run): Promise<void> | undefined {
  // A question that is open ends this run anyway, and what runs beside it should come to its own in time.
  const reason = run.stopped === undefined ? shedReason(run) : undefined
  if (reason !== undefined) return moveOn(run, reason)
  if (run.strict) return startAgain(run)
  return run.stopped === undefined ? turn(run) : undefined
}

/** Why the call should leave this instance now. */
function shedReason(run: Run): ShedReason | undefined {
  const { gauge } = run.scope.settings
  if (!mayMove(run)) return undefined
  if (gauge.draining > 0 && gauge.drains > run.drains) return 'stopping'
  measure(gauge)
  const call = sheddable(run)
  if (call === undefined) return undefined
  if (gauge.draining > 0) return 'stopping'
  if (gauge.rules.policy !== undefined) return asksToShed(run, call) ? 'policy' : undefined
  if (!isOverloaded(gauge)) return undefined
  gauge.allowance--
  return 'load'
}

/** Whether a retry would go on where this call is now. */
function mayMove({ stays, scope }: Run): boolean {
  const { calls } = scope.settings.gauge.rules
  return (
    !stays &&
    scope.call.journal === undefined &&
    (calls === 'all' || (calls === 'movable' && scope.call.movable === true))
  )
}

/** The call as a policy sees it, unless it has to work here for longer, or has been shed too often. */
function sheddable(run: Run): SheddingCall | undefined {
  const { settings, method } = run.scope
  const { minWorkMs, budget } = settings.gauge.rules
  const { sheds, round } = journalOf(run)
  if (sheds >= budget - Math.max(0, round - freeRounds)) return undefined
  const workedMs = settings.now() - (run.workedFrom ?? 0)
  return workedMs < minWorkMs ? undefined : { method, name: run.name, sheds, rounds: round, workedMs }
}

function asksToShed({ scope, name }: Run, call: SheddingCall): boolean {
  const { gauge } = scope.settings
  try {
    return gauge.rules.policy?.(loadOf(gauge), call) === true
  } catch (error) {
    report(error, { method: scope.method, name }, scope.settings)
    return false
  }
}

/** A handler that computes from checkpoint to checkpoint would otherwise keep the event loop to itself. */
function turn(run: Run): Promise<void> | undefined {
  const { gauge, now } = run.scope.settings
  if (now() - run.turnedAt < sliceMs / (1 + gauge.waiting)) return undefined
  return takeTurn(run, gauge)
}

async function takeTurn(run: Run, gauge: Gauge): Promise<void> {
  gauge.waiting++
  await nextTurn()
  gauge.waiting--
  run.turnedAt = run.scope.settings.now()
}
