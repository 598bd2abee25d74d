import { canHandOffKey } from '@x/schema'
import { reportServerError, logContextOf } from '../request/report.ts'
import { decideHandOff } from '../shedding/hand-off.ts'
import { yieldForTick } from '../shedding/load-monitor.ts'
import type { ShedReason } from '../shedding/shedding-options.ts'
import { handOffRun, isStopping, journalOf, markYielded, type Run, restartRun, abandonRun } from './run.ts'
import { createJournalEntry, type JournalPart } from './journal.ts'

/** Milliseconds that all computing handlers of a server together may take before the event loop does other work. */
const workSliceMs = 10

/**
 * Handles the end of a step, or the save of a checkpoint. All work of the call is recorded at this point, so the call
 * may continue at another instance or in a later run. Returns undefined if the handler continues at once. Otherwise
 * returns a promise that resolves when the handler may continue, or rejects when the run is suspended.
 */
export function handleStepBoundary(run: Run): Promise<void> | undefined {
  // If the handler has ended or the call has failed, the call is neither handed off nor restarted.
  if (run.end?.kind === 'finished' || run.end?.kind === 'misused') return undefined
  // A stopping run is not handed off. An open question ends it anyway, and parallel branches should reach their own
  // questions first.
  const reason = isStopping(run) ? undefined : findShedReason(run)
  if (reason !== undefined) return handOffRun(run, reason)
  if (run.isReplayStrict) return restartRun(run)
  return isStopping(run) ? undefined : yieldToEventLoop(run)
}

/** Returns the reason to hand the call off now, or undefined if it stays. */
function findShedReason(run: Run): ShedReason | undefined {
  if (!canHandOff(run)) return undefined
  const { request, name, drainCount } = run
  const { settings, method } = request
  const { shedCount, stopCount, round, handOff } = journalOf(run)
  const workedMs = settings.now() - (run.workStartedAt ?? 0)
  const call = { method, name, shedCount, roundCount: round, workedMs, drainCount, stopCount, handOff }
  const reason = decideHandOff(settings.loadMonitor, call)
  if (typeof reason !== 'object') return reason
  reportServerError(reason.error, logContextOf(request, name), settings)
  return undefined
}

/** Returns true if a retry of the call may reach another instance that can continue it. */
function canHandOff({ isBoundToInstance, request }: Run): boolean {
  const { calls } = request.settings.loadMonitor.rules
  return (
    !isBoundToInstance &&
    request.journalStore === undefined &&
    (calls === 'all' || (calls === 'resumable' && request.call.context.get(canHandOffKey) === true))
  )
}

/**
 * Lets the event loop do other work if this run has computed long enough, and otherwise returns undefined. Without
 * this, a handler that only computes and saves checkpoints would block the event loop.
 */
function yieldToEventLoop(run: Run): Promise<void> | undefined {
  const { loadMonitor, now } = run.request.settings
  if (now() - run.yieldedAt < workSliceMs / (1 + loadMonitor.waitingRunCount)) return undefined
  return yieldForTick(loadMonitor).then(() => markYielded(run))
}

/** Passes a changed part of the journal to the journal store, if the call has one. */
export function recordJournalEntry(run: Run, part: JournalPart, key?: string): void {
  run.request.journalStore?.append(createJournalEntry(journalOf(run), part, key))
}

/**
 * Commits new journal entries before the handler continues. Returns undefined if there are none. If the commit fails,
 * the call fails and the promise rejects with the suspension.
 */
export function commitJournalEntries(run: Run): Promise<void> | undefined {
  const pendingCommit = run.request.journalStore?.commit()
  return pendingCommit?.catch((error: unknown) => {
    throw abandonRun(run, error)
  })
}
