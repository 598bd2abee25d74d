import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type Expectation, readExpectedFailures, unknownExpectations } from './expected-failures.ts'
import { type FixtureProcess, startFixture } from './fixture-process.ts'
import { evaluateScenario, type ScenarioResult } from './evaluate-scenario.ts'
import { formatSummary, formatResult } from './report.ts'
import { type Leg, type Requirements, readRequirements, selectScenarios } from './requirements.ts'
import { runScenario, runSuite } from './suite.ts'

/**
 * The number of scenarios that run at once. Most of their time is the start of processes, and a scenario uses one
 * processor.
 */
const laneCount = Math.min(2, availableParallelism())

const clientProgram = fileURLToPath(new URL('./client/main.js', import.meta.url))

/** Options of a leg. */
export interface LegOptions {
  readonly revision: string
  /** Names of scenarios. An empty list selects all scenarios of the revision. */
  readonly scenarios: readonly string[]
  readonly port?: number | undefined
  readonly print: (line: string) => void
}

interface Plan {
  readonly requirements: Requirements
  readonly expected: ReadonlyMap<string, Expectation>
}

/** What the scenarios share that run one after another. */
interface Lane {
  readonly args: readonly string[]
  /** Throws if what a scenario has just reported is not valid. */
  readonly check: () => void
}

/** Runs the suite against fixture servers, one for each lane. Resolves to true if every outcome was expected. */
export async function runServerLeg(options: LegOptions): Promise<boolean> {
  const plan = await planLeg('server', options)
  const fixtures: FixtureProcess[] = []
  try {
    for (let lane = 0; lane < laneCount; lane++)
      fixtures.push(await startFixture(lane === 0 ? options.port : undefined))
    const lanes = fixtures.map(({ url, running }) => ({
      args: ['server', '--url', url, '--spec-version', options.revision, '--force'],
      check: () => {
        if (!running()) throw new Error('the fixture server ended: checks that expect errors pass without a server')
      },
    }))
    return await runLeg('server', options, plan, lanes)
  } finally {
    await Promise.all(fixtures.map(({ stop }) => stop()))
  }
}

/** Runs the fixture client against the suite's servers. */
export async function runClientLeg(options: LegOptions): Promise<boolean> {
  const plan = await planLeg('client', options)
  const command = [process.execPath, '--conditions=dist', clientProgram].map((part) => `"${part}"`).join(' ')
  const args = ['client', '--command', command, '--spec-version', options.revision, '--force']
  const lanes = Array.from({ length: laneCount }, () => ({ args, check: () => {} }))
  return runLeg('client', options, plan, lanes)
}

async function planLeg(leg: Leg, options: LegOptions): Promise<Plan> {
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

async function runLeg(leg: Leg, options: LegOptions, plan: Plan, lanes: readonly Lane[]): Promise<boolean> {
  const { requirements, expected } = plan
  const waiting = [...requirements.scored, ...requirements.others]
  const results: ScenarioResult[] = []
  const runLane = async ({ args, check }: Lane): Promise<void> => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
      const { exitCode, checks } = await runScenario(scenario, args)
      check()
      const scored = requirements.scored.includes(scenario)
      const result = evaluateScenario({ scenario, scored, exitCode, checks }, expected.get(scenario))
      results.push(result)
      options.print(formatResult(result))
    }
  }
  await Promise.all(lanes.map(runLane))
  options.print(formatSummary(`${leg} ${options.revision}`, results))
  return results.every(({ outcome }) => outcome !== 'fail' && outcome !== 'stale')
}
