import { canHandOffKey } from '@x/schema'
import { reportServerError, logContextOf } from '../request/report.ts'
import { decideHandOff } from '../shedding/hand-off.ts'
import { yieldForTick } from '../shedding/load-monitor.ts'
import type { ShedReason } from '../shedding/shedding-options.ts'
import { handOffRun, isStopping, journalOf, markYielded, type Run, restartRun, abandonRun } from './run.ts'
import { createJournalEntry, type JournalPart } from './journal.ts'

/** The milliseconds that the handlers of a server may compute, together, before the event loop turns. */
const workSliceMs = 10

/**
 * Handles the end of a step, or a checkpoint that was saved: the work of the call so far is recorded, so it may
 * continue at another instance, or later. Returns undefined when it continues here at once. Otherwise a promise that
 * resolves when it does, or never.
 */
export function handleStepBoundary(run: Run): Promise<void> | undefined {
  // A handler that has ended, or a call that has failed, is neither moved nor restarted.
  if (run.end?.kind === 'finished' || run.end?.kind === 'misused') return undefined
  // An open question ends this run anyway, and the branches beside it should reach their own questions in time.
  const reason = isStopping(run) ? undefined : findShedReason(run)
  if (reason !== undefined) return handOffRun(run, reason)
  if (run.isReplayStrict) return restartRun(run)
  return isStopping(run) ? undefined : yieldToEventLoop(run)
}

/** Returns the reason for which the call should leave this instance now, if there is one. */
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

/** Returns true when a retry may reach another instance, which could continue this call. */
function canHandOff({ isBoundToInstance, request }: Run): boolean {
  const { calls } = request.settings.loadMonitor.rules
  return (
    !isBoundToInstance &&
    request.journalStore === undefined &&
    (calls === 'all' || (calls === 'resumable' && request.call.context.get(canHandOffKey) === true))
  )
}

/** A handler that computes from checkpoint to checkpoint would otherwise keep the event loop to itself. */
function yieldToEventLoop(run: Run): Promise<void> | undefined {
  const { loadMonitor, now } = run.request.settings
  if (now() - run.yieldedAt < workSliceMs / (1 + loadMonitor.waitingRunCount)) return undefined
  return yieldForTick(loadMonitor).then(() => markYielded(run))
}

/** Passes a new entry of the journal to its store. */
export function recordJournalEntry(run: Run, part: JournalPart, key?: string): void {
  run.request.journalStore?.append(createJournalEntry(journalOf(run), part, key))
}

/**
 * Commits new entries before the handler continues, undefined when there are none. When the commit fails, the run ends
 * here, and this rejects with its suspension.
 */
export function commitJournalEntries(run: Run): Promise<void> | undefined {
  const pendingCommit = run.request.journalStore?.commit()
  return pendingCommit?.catch((error: unknown) => {
    throw abandonRun(run, error)
  })
}
