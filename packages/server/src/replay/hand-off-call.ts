import { canHandOffKey } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { decideHandOff, type InstanceWork } from '../shedding/hand-off.ts'
import type { HandOffReason } from '../shedding/shedding-options.ts'
import type { Run } from './run.ts'
import { emitHandOff } from './run-events.ts'
import { sealState } from './seal-state.ts'
import type { ServedRequest } from './served-request.ts'
import { formatInputRequired } from './suspend-call.ts'

/**
 * Handles the end of a step, or the save of a checkpoint. All work of the call is recorded at this point, so the call
 * may continue at another instance or in a later run. Returns undefined if the handler continues at once. Otherwise
 * returns a promise that resolves when the handler may continue, or rejects when the run is suspended.
 */
export function handleStepBoundary(run: Run, work: InstanceWork): Promise<void> | undefined {
  // If the handler has ended or the call has failed, the call is neither handed off nor restarted.
  if (run.end?.kind === 'finished' || run.end?.kind === 'misused') return undefined
  // A stopped run is not handed off. An open question ends it anyway, and parallel branches should reach their own
  // questions first.
  const reason = run.wasStopped ? undefined : findHandOffReason(run, work)
  if (reason !== undefined) return run.handOff(reason)
  if (run.isStrict && run.askedQuestions === undefined) return run.restart()
  return run.wasStopped ? undefined : work.yieldIfDue()
}

/** Returns true if a retry of the call may reach another instance that can continue it. */
function canHandOff({ settings, journalStore, call }: ServedRequest, { isBound }: InstanceWork): boolean {
  const { calls } = settings.loadMonitor.rules
  return (
    !isBound &&
    journalStore === undefined &&
    (calls === 'all' || (calls === 'resumable' && call.context.get(canHandOffKey) === true))
  )
}

/** Returns the reason to hand the call off now, or undefined if it stays. */
function findHandOffReason(run: Run, work: InstanceWork): HandOffReason | undefined {
  if (!canHandOff(run.request, work)) return undefined
  const { name, journal } = run
  const workedMs = work.elapsedMs
  const { settings, method, drainCount } = run.request
  const { shedCount, stopCount, round, handOffReport } = journal
  const call = { method, name, shedCount, roundCount: round, workedMs, drainCount, stopCount, handOffReport }
  const reason = decideHandOff(settings.loadMonitor, call)
  if (typeof reason !== 'object') return reason
  run.report(reason.error)
  return undefined
}

/**
 * Returns the result that hands a call off. It contains only `requestState`, and the client sends the call again at
 * once, to any instance. Returns undefined if the journal cannot be sealed, for example because it is too large. That
 * failure is logged.
 */
export async function handOffCall(run: Run, reason: HandOffReason): Promise<JsonObject | undefined> {
  const { loadMonitor } = run.request.settings
  // A stopping instance does not report its load.
  const journal = run.journal.toHandedOff(reason === 'stopping' ? undefined : loadMonitor.createHandOffReport())
  let requestState: string
  try {
    requestState = await sealState(journal, run)
  } catch {
    return undefined
  }
  loadMonitor.countHandOff(reason)
  emitHandOff(run, reason, journal.handOffCount)
  return formatInputRequired(run, requestState)
}
