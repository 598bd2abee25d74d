import { parseArgs } from 'node:util'
import { type Comparison, compareModes, scoreOf, targets } from './compare.ts'
import { type Balancer, type ScenarioName, scenarios } from './options.ts'

const balancers: readonly Balancer[] = ['round-robin', 'hash', 'cluster']

const usage = `pnpm simulation [--instances 10] [--balancer round-robin] [--seeds 4] [--from 1] [--scenario "steady 80 %"]
Runs the load monitor and the hand-off policy of the server on a virtual clock. Balancers: ${balancers.join(', ')}.
Scenarios: ${Object.keys(scenarios).join(', ')}; all of them by default.
`

function main(): void {
  const { values } = parseArgs({
    options: {
      instances: { type: 'string', default: '10' },
      balancer: { type: 'string', default: 'round-robin' },
      seeds: { type: 'string', default: '4' },
      from: { type: 'string', default: '1' },
      scenario: { type: 'string', multiple: true },
      help: { type: 'boolean' },
    },
  })
  const instances = wholeNumber('instances', values.instances)
  const seeds = wholeNumber('seeds', values.seeds)
  const from = wholeNumber('from', values.from)
  const balancer = balancers.find((name) => name === values.balancer)
  const names = scenarioNames(values.scenario)
  if (values.help === true || balancer === undefined) return void process.stdout.write(usage)
  const comparisons = names.map((scenario) => {
    const comparison = compareModes(scenario, { instances, balancer, seed: from }, seeds)
    process.stdout.write(linesOf(comparison))
    return comparison
  })
  process.stdout.write(summaryOf(comparisons))
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 1 && value <= 10_000) return value
  throw new RangeError(`--${name} is ${text}; write a whole number from 1 to 10000`)
}

function scenarioNames(given: readonly string[] | undefined): readonly ScenarioName[] {
  // Object.keys returns exactly the keys of the type.
  const all = Object.keys(scenarios) as ScenarioName[]
  if (given === undefined) return all
  const unknown = given.find((name) => !all.some((known) => known === name))
  if (unknown !== undefined) throw new RangeError(`--scenario is ${unknown}; write one of ${all.join(', ')}`)
  return all.filter((name) => given.includes(name))
}

function linesOf({ scenario, results }: Comparison): string {
  const lines = (['none', 'shedding', 'oracle'] as const).map((mode) => {
    const { meanMs, p99Ms, movesPerCall, uselessShare, givenUp, fluctuation } = results[mode]
    const moves = `${movesPerCall.toFixed(3)} hand-offs per call, ${(uselessShare * 100).toFixed(0)} % useless`
    const latency = `mean ${seconds(meanMs)}, p99 ${seconds(p99Ms)}`
    return `  ${mode.padEnd(9)} ${latency}; ${moves}; ${givenUp.toFixed(0)} given up; fluctuation ${fluctuation.toFixed(2)}\n`
  })
  return `${scenario}\n${lines.join('')}`
}

function summaryOf(comparisons: readonly Comparison[]): string {
  const score = scoreOf(comparisons, 'shedding')
  const without = scoreOf(comparisons, 'none')
  const overload = comparisons.find(({ scenario }) => scenario === 'overload 130 %')?.results.shedding.movesPerCall
  return `latency as a multiple of an oracle's (geometric means): mean ${score.mean.toFixed(2)} (${without.mean.toFixed(2)} without shedding), p99 ${score.p99.toFixed(2)} (${without.p99.toFixed(2)}); ${score.moves.toFixed(3)} hand-offs per call
targets with 10 instances and round robin: p99 at most ${targets.p99}, hand-offs per call at most ${targets.moves}, in overload at most ${targets.overloadMoves} (here ${overload?.toFixed(3) ?? 'not run'})
`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}

main()
