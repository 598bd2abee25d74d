import type { JsonObject } from '@x/schema'
import type { RequestState } from './served-request.ts'
import { copyJournal } from './journal.ts'
import { runAttempt, type Handler, finishRun } from './finish-run.ts'
import { beginRun, whenDrained, endRun, journalOf, type Run, type RunStart } from './run.ts'
import { warn } from './warnings.ts'

/** A loop of checkpoints runs again at each of them; past this many runs, the rest is run through. */
const maxStrictRuns = 1000

/**
 * Runs a handler again from the top at every await that could end a run in production, with the journal as it stands
 * there, and warns of everything that is not the same in every run. Slow by design: for tests.
 */
export async function runStrictly<T>(start: RunStart, handler: Handler<T>, request: RequestState): Promise<JsonObject> {
  const given = JSON.stringify(request.params)
  let next: RunStart = { ...start, strict: true }
  let before: Run | undefined
  for (let runs = 1; ; runs++) {
    const run: Run = beginRun(request, handler.name, copyStart(next))
    const outcome = await runAttempt(handler, run)
    endRun(run)
    if (run.stopped !== undefined) await whenDrained(run)
    const repeatable = before === undefined || compare(before, run)
    if (JSON.stringify(request.params) !== given) notRepeatable(run, 'changes its arguments: work on a copy of them')
    if (isLast(run, before)) return finishRun(run, outcome, handler)
    // A handler that is another one in every run would go on for ever: it runs once more, to its end.
    next = { ...start, journal: journalOf(run), strict: repeatable && runs < maxStrictRuns, before: run }
    before = run
  }
}

/** A run that asks is made twice as well, because what it asks must not differ either. */
function isLast(run: Run, before: Run | undefined): boolean {
  if (run.fault !== undefined || run.lost !== undefined || run.shed !== undefined || !run.strict) return true
  return !run.again && (run.asked === undefined || before?.asked !== undefined)
}

/** Each run has a start of its own: changes that a handler makes to it must not reach the next run. */
function copyStart(start: RunStart): RunStart {
  const { journal, responses } = start
  return { ...start, journal: journal && copyJournal(journal), responses: responses && structuredClone(responses) }
}

/** Everything that a run did before it was stopped, the next one must do as well, and ask in the same words. */
function compare(before: Run, run: Run): boolean {
  let same = true
  for (const [use, text] of before.used ?? []) {
    const differs = describeDifference({ use, text }, before, run)
    if (differs === undefined) continue
    same = false
    const [, key = ''] = use.split(' ')
    notRepeatable(run, `${differs} when it ran again`, key)
  }
  return same
}

function describeDifference({ use, text }: { use: string; text: string }, before: Run, run: Run): string | undefined {
  const [kind, key] = use.split(' ')
  const called = `its ${kind === 'ask' ? 'question' : kind} "${key}"`
  const again = run.used?.get(use)
  if (again !== undefined) return again === text ? undefined : `wrote ${called} another way`
  // A loop that goes on from a checkpoint does not come to what lies before it.
  return before.passed?.has(use) === true ? undefined : `did not come to ${called}`
}

function notRepeatable(run: Run, problem: string, key?: string): void {
  warn(run, { code: 'not-repeatable', problem, key })
}
