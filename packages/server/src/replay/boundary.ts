import { canHandOffKey } from '@x/exchange'
import { reportServerError, logContextOf } from '../request/report.ts'
import { decideHandOff } from '../shedding/hand-off.ts'
import { InstanceWork } from '../shedding/instance-work.ts'
import type { HandOffReason } from '../shedding/shedding-options.ts'
import type { Run } from './run.ts'
import type { ServedRequest } from './served-request.ts'

/** Returns the work of a request on this instance. Its first step or checkpoint begins the work. */
export function ensureInstanceWork(request: ServedRequest): InstanceWork {
  request.work ??= new InstanceWork(request.settings.loadMonitor, request.settings.now)
  return request.work
}

/**
 * Handles the end of a step, or the save of a checkpoint. All work of the call is recorded at this point, so the call
 * may continue at another instance or in a later run. Returns undefined if the handler continues at once. Otherwise
 * returns a promise that resolves when the handler may continue, or rejects when the run is suspended.
 */
export function handleStepBoundary(run: Run): Promise<void> | undefined {
  // If the handler has ended or the call has failed, the call is neither handed off nor restarted.
  if (run.end?.kind === 'finished' || run.end?.kind === 'misused') return undefined
  // A stopped run is not handed off. An open question ends it anyway, and parallel branches should reach their own
  // questions first.
  const reason = run.wasStopped ? undefined : findHandOffReason(run)
  if (reason !== undefined) return run.handOff(reason)
  if (run.isStrict && run.askedQuestions === undefined) return run.restart()
  return run.wasStopped ? undefined : ensureInstanceWork(run.request).yieldIfDue()
}

/** Returns the reason to hand the call off now, or undefined if it stays. */
function findHandOffReason({ request, name, journal }: Run): HandOffReason | undefined {
  if (!canHandOff(request)) return undefined
  const { settings, method, drainCount } = request
  const { shedCount, stopCount, round, handOffReport } = journal
  const workedMs = ensureInstanceWork(request).elapsedMs
  const call = { method, name, shedCount, roundCount: round, workedMs, drainCount, stopCount, handOffReport }
  const reason = decideHandOff(settings.loadMonitor, call)
  if (typeof reason !== 'object') return reason
  reportServerError(reason.error, logContextOf(request, name), settings)
  return undefined
}

/** Returns true if a retry of the call may reach another instance that can continue it. */
function canHandOff(request: ServedRequest): boolean {
  const { calls } = request.settings.loadMonitor.rules
  return (
    !ensureInstanceWork(request).isBound &&
    request.journalStore === undefined &&
    (calls === 'all' || (calls === 'resumable' && request.call.context.get(canHandOffKey) === true))
  )
}

/**
 * Commits new journal entries before the handler continues. Returns undefined if there are none. If the commit fails,
 * the call fails and the promise rejects with the suspension. `next` is the step whose work follows, if there is one.
 */
export function commitJournal(run: Run, next?: { readonly step: string }): Promise<void> | undefined {
  return run.journal.commit(next)?.catch((error: unknown) => {
    throw run.failStore(error)
  })
}
