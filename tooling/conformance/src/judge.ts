import type { Expectation } from './expected-failures.ts'

/** One check as the suite writes it to `checks.json`. */
export interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string | undefined
}

/** The output of one scenario's run. */
export interface ScenarioRun {
  readonly scenario: string
  /** `true` when the revision's score counts it; a scored scenario may not be skipped. */
  readonly scored: boolean
  /** The exit code of the suite; over the client leg this includes the client's own exit code and timeout. */
  readonly exitCode: number
  readonly checks: readonly Check[]
}

/** Pass and skipped are good, expected-fail and vacuous are tolerated, fail and stale end the run with an error. */
export type Outcome = 'pass' | 'skipped' | 'vacuous' | 'expected-fail' | 'fail' | 'stale'

/** The judgement on one scenario, with what a reader needs to act on it. */
export interface Verdict {
  readonly scenario: string
  readonly scored: boolean
  readonly outcome: Outcome
  /** Checks that succeeded, of those that were made; those that the suite skipped were not. */
  readonly succeeded: number
  readonly made: number
  readonly skipped: number
  readonly detail?: string | undefined
}

// A status that this program does not know is no success.
const good = new Set(['SUCCESS', 'INFO', 'SKIPPED'])

/**
 * Judges a scenario by its checks, its exit code and what was expected of it. A warning counts as a failure: the
 * specification's SHOULDs are kept here.
 */
export function judge(run: ScenarioRun, expectation: Expectation | undefined): Verdict {
  const { scenario, scored } = run
  const made = run.checks.filter(({ status }) => status !== 'SKIPPED')
  const failing = run.checks.filter(({ status }) => !good.has(status))
  const counts = {
    scenario,
    scored,
    succeeded: made.length - failing.length,
    made: made.length,
    skipped: run.checks.length - made.length,
  }
  const [first] = failing
  const fault = first === undefined ? withoutFailingCheck(run, made.length) : `${first.id}: ${messageOf(first)}`
  if (expectation !== undefined) return { ...counts, ...againstExpectation(expectation, failing, fault) }
  if (fault !== undefined) return { ...counts, outcome: 'fail', detail: fault }
  return { ...counts, outcome: made.length === 0 ? 'skipped' : 'pass' }
}

function withoutFailingCheck({ exitCode, scored }: ScenarioRun, made: number): string | undefined {
  if (exitCode !== 0) {
    return `every check passed but the suite ended with code ${exitCode}: the program under test failed or timed out`
  }
  if (scored && made === 0) return 'a scored scenario was skipped'
  return undefined
}

function againstExpectation(
  { checks, reason, vacuous }: Expectation,
  failing: readonly Check[],
  fault: string | undefined,
): Pick<Verdict, 'outcome' | 'detail'> {
  if (vacuous === true)
    return fault === undefined ? { outcome: 'vacuous', detail: reason } : { outcome: 'fail', detail: fault }
  if (fault === undefined) return { outcome: 'stale', detail: `it passes now: remove it from expected-failures.json` }
  if (checks === undefined) return { outcome: 'expected-fail', detail: `${reason} (${fault})` }
  const unlisted = failing.find(({ id }) => !checks.includes(id))
  if (unlisted !== undefined) {
    return { outcome: 'fail', detail: `unlisted check ${unlisted.id}: ${messageOf(unlisted)}` }
  }
  const passing = checks.filter((id) => !failing.some((check) => check.id === id))
  if (passing.length > 0) {
    return {
      outcome: 'stale',
      detail: `these checks pass now: remove ${passing.join(', ')} from expected-failures.json`,
    }
  }
  return { outcome: 'expected-fail', detail: `${reason} (${fault})` }
}

function messageOf({ errorMessage, status }: Check): string {
  return errorMessage?.split('\n')[0] ?? status
}
