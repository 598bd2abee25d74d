import type { JsonObject } from '@x/schema'
import type { RequestState } from './served-request.ts'
import { finishStartedUses } from './finish-uses.ts'
import { copyJournal } from './journal.ts'
import { runHandlerOnce, type Handler, finishRun } from './finish-run.ts'
import {
  beginRun,
  waitForPendingWork,
  endRun,
  endRunHandOff,
  isStopping,
  journalOf,
  type Run,
  type RunStart,
} from './run.ts'
import { warnAboutRun } from './warnings.ts'

/**
 * The maximum number of strict runs of a request. A loop that saves checkpoints restarts the handler at each save.
 * After this many runs, the handler runs to its end without restarts.
 */
const maxStrictRuns = 1000

/**
 * Runs a handler again from its beginning at every await that could end a run in production, with the journal of that
 * moment. Warns of every difference between two runs. It is slow by design, because it is for tests.
 */
export async function runWithStrictReplay<T>(
  runStart: RunStart,
  handler: Handler<T>,
  request: RequestState,
): Promise<JsonObject> {
  const paramsText = JSON.stringify(request.params)
  let nextRunStart: RunStart = { ...runStart, isReplayStrict: true }
  let previousRun: Run | undefined
  for (let runCount = 1; ; runCount++) {
    const run: Run = beginRun(request, handler.name, copyStart(nextRunStart))
    const outcome = await runHandlerOnce(handler, run)
    await finishStartedUses(run, outcome)
    endRun(run)
    if (isStopping(run)) await waitForPendingWork(run)
    const isRunRepeatable = previousRun === undefined || areRunsEquivalent(previousRun, run)
    if (JSON.stringify(request.params) !== paramsText)
      warnNotRepeatable(run, 'changes its arguments: work on a copy of them')
    if (isLastRun(run, previousRun)) return finishRun(run, outcome, handler)
    endRunHandOff(run)
    // After a difference the next run is not strict, because a handler that differs in every run would restart without
    // end.
    nextRunStart = {
      ...runStart,
      journal: journalOf(run),
      isReplayStrict: isRunRepeatable && runCount < maxStrictRuns,
      previousRun: run,
    }
    previousRun = run
  }
}

/**
 * Returns true if this run decides the result. A run that asks is repeated once, so that differences in its questions
 * are found.
 */
function isLastRun(run: Run, previousRun: Run | undefined): boolean {
  if (!run.isReplayStrict) return true
  if (run.end?.kind === 'asked') return previousRun?.end?.kind === 'asked'
  return run.end?.kind !== 'restarted'
}

/** Copies the data that a run begins with, so that changes by its handler do not reach the next run. */
function copyStart(runStart: RunStart): RunStart {
  const { journal, responses } = runStart
  return { ...runStart, journal: journal && copyJournal(journal), responses: responses && structuredClone(responses) }
}

/**
 * Returns true if a run made all `ctx` calls that the previous run made, with the same questions. Warns of each
 * difference.
 */
function areRunsEquivalent(previousRun: Run, run: Run): boolean {
  let isUnchanged = true
  for (const [useKey, text] of previousRun.contextUses ?? []) {
    const difference = describeDifference({ useKey, text }, previousRun, run)
    if (difference === undefined) continue
    isUnchanged = false
    const [, key = ''] = useKey.split(' ')
    warnNotRepeatable(run, `${difference} when it ran again`, key)
  }
  return isUnchanged
}

function describeDifference(
  { useKey, text }: { useKey: string; text: string },
  previousRun: Run,
  run: Run,
): string | undefined {
  const [kind, key] = useKey.split(' ')
  const useDescription = `its ${kind === 'ask' ? 'question' : kind} "${key}"`
  const repeatedText = run.contextUses?.get(useKey)
  if (repeatedText !== undefined) return repeatedText === text ? undefined : `wrote ${useDescription} another way`
  // A loop that continues from a checkpoint does not reach the uses before the checkpoint.
  return previousRun.skippableUseKeys?.has(useKey) === true ? undefined : `did not come to ${useDescription}`
}

function warnNotRepeatable(run: Run, problem: string, key?: string): void {
  warnAboutRun(run, { code: 'not_repeatable', problem, key })
}
