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
  /** True if the score of the revision counts the scenario. A scored scenario must not be skipped. */
  readonly scored: boolean
  /** The exit code of the suite. In the client leg it includes the exit code and the timeout of the client. */
  readonly exitCode: number
  readonly checks: readonly Check[]
}

/**
 * `pass` and `skipped` are successful, and `expected-fail` and `vacuous` are tolerated. `fail` and `stale` fail the
 * run.
 */
export type Outcome = 'pass' | 'skipped' | 'vacuous' | 'expected-fail' | 'fail' | 'stale'

/** The result of one scenario, with the reason for its outcome. */
export interface ScenarioResult {
  readonly scenario: string
  readonly scored: boolean
  readonly outcome: Outcome
  /** The number of successful checks. */
  readonly succeeded: number
  /** The number of checks, without those that the suite skipped. */
  readonly made: number
  readonly skipped: number
  readonly detail?: string | undefined
}

// An unknown status counts as a failure.
const successful = new Set(['SUCCESS', 'INFO', 'SKIPPED'])

/**
 * Determines the outcome of a scenario from its checks, its exit code and its expected failure. A warning counts as a
 * failure, because the packages follow every SHOULD of the specification.
 */
export function evaluateScenario(run: ScenarioRun, expectation: Expectation | undefined): ScenarioResult {
  const { scenario, scored } = run
  const made = run.checks.filter(({ status }) => status !== 'SKIPPED')
  const failing = run.checks.filter(({ status }) => !successful.has(status))
  const counts = {
    scenario,
    scored,
    succeeded: made.length - failing.length,
    made: made.length,
    skipped: run.checks.length - made.length,
  }
  const [first] = failing
  const problem = first === undefined ? problemOfSuite(run, made.length) : `${first.id}: ${messageOf(first)}`
  if (expectation !== undefined) return { ...counts, ...compareWithExpectation(expectation, failing, problem) }
  if (problem !== undefined) return { ...counts, outcome: 'fail', detail: problem }
  return { ...counts, outcome: made.length === 0 ? 'skipped' : 'pass' }
}

function problemOfSuite({ exitCode, scored }: ScenarioRun, made: number): string | undefined {
  if (exitCode !== 0) {
    return `every check passed but the suite ended with code ${exitCode}: the program under test failed or timed out`
  }
  if (scored && made === 0) return 'a scored scenario was skipped'
  return undefined
}

function compareWithExpectation(
  { checks, reason, vacuous }: Expectation,
  failing: readonly Check[],
  problem: string | undefined,
): Pick<ScenarioResult, 'outcome' | 'detail'> {
  if (vacuous === true)
    return problem === undefined ? { outcome: 'vacuous', detail: reason } : { outcome: 'fail', detail: problem }
  if (problem === undefined)
    return { outcome: 'stale', detail: 'the scenario passes: remove it from expected-failures.json' }
  if (checks === undefined) return { outcome: 'expected-fail', detail: `${reason} (${problem})` }
  const unlisted = failing.find(({ id }) => !checks.includes(id))
  if (unlisted !== undefined) {
    return { outcome: 'fail', detail: `unlisted check ${unlisted.id}: ${messageOf(unlisted)}` }
  }
  const passing = checks.filter((id) => !failing.some((check) => check.id === id))
  if (passing.length > 0) {
    return {
      outcome: 'stale',
      detail: `these checks pass: remove ${passing.join(', ')} from expected-failures.json`,
    }
  }
  return { outcome: 'expected-fail', detail: `${reason} (${problem})` }
}

function messageOf({ errorMessage, status }: Check): string {
  return errorMessage?.split('\n')[0] ?? status
}
