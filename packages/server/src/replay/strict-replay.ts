import type { Handler, RunOutcome } from './handler.ts'
import { openContext } from './open-context.ts'
import { Run } from './run.ts'
import { settleRun } from './settle-run.ts'

/**
 * How many strict runs a request may have. A loop that saves checkpoints restarts the handler at each save; after this
 * many runs it goes to its end without restarts.
 */
const maxStrictRuns = 1000

/**
 * Finds handlers that are not repeatable: runs one again from its beginning at every await that could end a run in
 * production, with the journal of that moment, and warns of every difference between two runs. Returns the last run,
 * whose end counts. Slow by design, because it is for tests.
 */
export async function runStrictly<T>(
  handler: Handler<T>,
  { request, existingJournal }: Run,
): Promise<{ readonly run: Run; readonly outcome: RunOutcome<T> }> {
  const paramsText = JSON.stringify(request.params)
  let run = new Run(request, handler.name, existingJournal?.copyForNextRun(), true)
  let previousRun: Run | undefined
  for (let runCount = 1; ; runCount++) {
    const outcome = await callHandler(handler, run)
    await settleRun(run, outcome)
    const isRunRepeatable = previousRun === undefined || areRunsEquivalent(previousRun, run)
    if (JSON.stringify(request.params) !== paramsText)
      warnNotRepeatable(run, 'changes its arguments: work on a copy of them')
    if (isLastRun(run, previousRun)) return { run, outcome }
    previousRun = run
    // After a difference the next run is not strict, because a handler that differs in every run would restart without
    // end.
    const isStrict = isRunRepeatable && runCount < maxStrictRuns
    run = new Run(request, handler.name, run.journal.copyForNextRun(), isStrict)
  }
}

async function callHandler<T>(handler: Handler<T>, run: Run): Promise<RunOutcome<T>> {
  try {
    return { returned: await handler.run(openContext(run)) }
  } catch (thrown) {
    return { thrown }
  }
}

/** True if this run decides the result. One that asks is repeated once, to find differences in its questions. */
function isLastRun(run: Run, previousRun: Run | undefined): boolean {
  if (!run.isStrict) return true
  if (run.end?.kind === 'asked') return previousRun?.end?.kind === 'asked'
  return run.end?.kind !== 'restarted'
}

function areRunsEquivalent(previousRun: Run, run: Run): boolean {
  let isUnchanged = true
  for (const [useKey, text] of previousRun.existingUses?.keys ?? []) {
    const difference = describeDifference(useKey, text, previousRun, run)
    if (difference === undefined) continue
    isUnchanged = false
    const [, key = ''] = useKey.split(' ')
    warnNotRepeatable(run, difference, key)
  }
  return isUnchanged
}

function describeDifference(useKey: string, text: string, previousRun: Run, run: Run): string | undefined {
  const [kind, key] = useKey.split(' ')
  const useDescription = `its ${kind === 'ask' ? 'question' : kind} "${key}"`
  const repeatedText = run.existingUses?.keys.get(useKey)
  if (repeatedText !== undefined)
    return repeatedText === text
      ? undefined
      : `wrote ${useDescription} differently when it ran again: ${describeChange(text, repeatedText)}; ` +
          'read what changes in ctx.step, ctx.now() or ctx.uuid()'
  // A loop that continues from a checkpoint does not come to what it used before.
  return previousRun.existingUses?.skippableKeys?.has(useKey) === true
    ? undefined
    : `did not reach ${useDescription} when it ran again`
}

function describeChange(previous: string, repeated: string): string {
  let at = 0
  while (at < repeated.length && repeated[at] === previous[at]) at += 1
  const excerptOf = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 30), at + 30))
  return `${excerptOf(repeated)} instead of ${excerptOf(previous)}`
}

function warnNotRepeatable(run: Run, problem: string, key?: string): void {
  run.warn('not_repeatable', problem, key)
}
