import { fileURLToPath } from 'node:url'
import { type Expectation, readExpectedFailures, unknownExpectations } from './expected-failures.ts'
import { startFixture } from './fixture-process.ts'
import { evaluateScenario, type ScenarioResult } from './evaluate-scenario.ts'
import { formatSummary, formatResult } from './report.ts'
import { type Leg, type Requirements, readRequirements, selectScenarios } from './requirements.ts'
import { runScenario, runSuite } from './suite.ts'

const clientProgram = fileURLToPath(new URL('./client/main.js', import.meta.url))

/** Options of a leg. */
export interface LegOptions {
  readonly revision: string
  /** Names of scenarios. An empty list selects all scenarios of the revision. */
  readonly scenarios: readonly string[]
  readonly port?: number | undefined
  readonly print: (line: string) => void
}

interface LegRun {
  readonly requirements: Requirements
  readonly expected: ReadonlyMap<string, Expectation>
  readonly args: readonly string[]
  readonly check: () => void
}

/** Runs the suite against the fixture server. Resolves to true if every outcome was expected. */
export async function runServerLeg(options: LegOptions): Promise<boolean> {
  const plan = await planLeg('server', options)
  const fixture = await startFixture(options.port)
  try {
    const args = ['server', '--url', fixture.url, '--spec-version', options.revision, '--force']
    const check = (): void => {
      if (!fixture.running())
        throw new Error('the fixture server ended: checks that expect errors pass without a server')
    }
    return await runLeg('server', options, { ...plan, args, check })
  } finally {
    await fixture.stop()
  }
}

/** Runs the fixture client against the suite's servers, one scenario at a time, so that no scenario delays another. */
export async function runClientLeg(options: LegOptions): Promise<boolean> {
  const plan = await planLeg('client', options)
  const command = [process.execPath, '--conditions=dist', clientProgram].map((part) => `"${part}"`).join(' ')
  const args = ['client', '--command', command, '--spec-version', options.revision, '--force']
  return runLeg('client', options, { ...plan, args, check: () => {} })
}

async function planLeg(leg: Leg, options: LegOptions): Promise<Pick<LegRun, 'requirements' | 'expected'>> {
  const listing = await runSuite(['list', '--requirements', options.revision])
  const all = readRequirements(listing.output, leg)
  const expected = readExpectedFailures(options.revision, leg)
  const unknown = unknownExpectations(expected, all)
  if (unknown.length > 0) {
    throw new Error(
      `expected-failures.json lists scenarios that the suite does not have at ${options.revision}: ${unknown.join(', ')}`,
    )
  }
  return { requirements: selectScenarios(all, options.scenarios), expected }
}

async function runLeg(leg: Leg, options: LegOptions, run: LegRun): Promise<boolean> {
  const { requirements, expected } = run
  const results: ScenarioResult[] = []
  for (const scenario of [...requirements.scored, ...requirements.others]) {
    const { exitCode, checks } = await runScenario(scenario, run.args)
    run.check()
    const scored = requirements.scored.includes(scenario)
    const result = evaluateScenario({ scenario, scored, exitCode, checks }, expected.get(scenario))
    results.push(result)
    options.print(formatResult(result))
  }
  options.print(formatSummary(`${leg} ${options.revision}`, results))
  return results.every(({ outcome }) => outcome !== 'fail' && outcome !== 'stale')
}
