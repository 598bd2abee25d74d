import type { JsonObject } from '@x/schema'
import type { Scope } from '../request/scope.ts'
import { copyJournal, type Journal } from './journal.ts'
import { attempt, type Handler, settle } from './settle.ts'
import { beginRun, drained, endRun, journalOf, type Run, type RunStart } from './run.ts'
import { warn } from './warnings.ts'

/** A loop of checkpoints runs again at each of them; past this many runs, the rest is run through. */
const mostRuns = 1000

/**
 * Runs a handler again from the top at every await that could end a run in production, with the journal as it stands there,
 * and warns of everything that is not the same in every run. Slow by design: for tests.
 */
export async function runStrictly<T>(start: RunStart, handler: Handler<T>, scope: Scope): Promise<JsonObject> {
  let journal: Journal | undefined = start.journal
  let before: Run | undefined
  for (let runs = 1; ; runs++) {
    const strict = runs < mostRuns
    const run: Run = beginRun(scope, handler.name, { ...start, journal: journal && copyJournal(journal), strict })
    const outcome = await attempt(handler, run)
    endRun(run)
    await drained(run)
    if (before !== undefined) compare(before, run)
    // A run that asks is made twice as well, because what it asks must not differ either.
    const confirmed = !run.again && (run.asked === undefined || before?.asked !== undefined)
    if (confirmed || run.fault !== undefined || !strict) return settle(run, outcome, handler)
    journal = journalOf(run)
    before = run
  }
}

/** Everything that a run did before it was stopped, the next one must do as well, and ask in the same words. */
function compare(before: Run, run: Run): void {
  for (const [use, text] of before.used ?? []) {
    const [kind, key = ''] = use.split(' ')
    const again = run.used?.get(use)
    const called = `its ${kind === 'ask' ? 'question' : kind} "${key}"`
    if (again === undefined) notRepeatable(run, `did not come to ${called} when it ran again`, key)
    else if (again !== text) notRepeatable(run, `wrote ${called} another way when it ran again`, key)
  }
}

function notRepeatable(run: Run, problem: string, key: string): void {
  warn(run, { code: 'not-repeatable', problem, key })
}
