import { fileURLToPath } from 'node:url'
import { type Expectation, readExpectedFailures, unknownExpectations } from './expected-failures.ts'
import { startFixture } from './fixture-process.ts'
import { judge, type Verdict } from './judge.ts'
import { summaryLine, verdictLine } from './report.ts'
import { type Leg, type Requirements, readRequirements, selectScenarios } from './requirements.ts'
import { runScenario, runSuite } from './suite.ts'

const clientProgram = fileURLToPath(new URL('./client/main.js', import.meta.url))

/** Options of a leg. */
export interface LegOptions {
  readonly revision: string
  /** Scenarios by name; all that the revision lists when empty. */
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

/** Runs the suite against the fixture server; gives whether all went as expected. */
export async function runServerLeg(options: LegOptions): Promise<boolean> {
  const plan = await planLeg('server', options)
  const fixture = await startFixture(options.port)
  try {
    const args = ['server', '--url', fixture.url, '--spec-version', options.revision, '--force']
    const check = (): void => {
      if (!fixture.running())
        throw new Error('the fixture server died: checks that expect errors would pass against nothing')
    }
    return await runLeg('server', options, { ...plan, args, check })
  } finally {
    await fixture.stop()
  }
}

/** Runs the fixture client against the suite's servers, one scenario at a time, so that none starves another. */
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
      `expected-failures.json names what the suite does not have at ${options.revision}: ${unknown.join(', ')}`,
    )
  }
  return { requirements: selectScenarios(all, options.scenarios), expected }
}

async function runLeg(leg: Leg, options: LegOptions, run: LegRun): Promise<boolean> {
  const { requirements, expected } = run
  const verdicts: Verdict[] = []
  for (const scenario of [...requirements.scored, ...requirements.others]) {
    const { exitCode, checks } = await runScenario(scenario, run.args)
    run.check()
    const scored = requirements.scored.includes(scenario)
    const verdict = judge({ scenario, scored, exitCode, checks }, expected.get(scenario))
    verdicts.push(verdict)
    options.print(verdictLine(verdict))
  }
  options.print(summaryLine(`${leg} ${options.revision}`, verdicts))
  return verdicts.every(({ outcome }) => outcome !== 'fail' && outcome !== 'stale')
}
