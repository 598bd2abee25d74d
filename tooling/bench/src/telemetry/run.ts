import { type MeasureOptions, optionsOf, type RatioBenchmark } from '../benchmark.ts'
import { type PinnedProcess, pinning, startPinned } from '../pinned-process.ts'
import { measureRounds, medianOf, type Round, shareOf, sharesOf } from '../alternating-rounds.ts'
import { type RatioId, type Reading, readingLine } from '../wanted.ts'
import type { Configuration, CostAnswer, CostQuestion } from './call-cost.ts'

interface Target extends PinnedProcess<CostQuestion, CostAnswer> {
  readonly name: Configuration
}

const base: Configuration = 'none'
const rows: readonly { readonly id: RatioId; readonly name: Configuration }[] = [
  { id: 'telemetry/api', name: 'api' },
  { id: 'telemetry/1', name: 'sampled-1' },
  { id: 'telemetry/100', name: 'sampled-100' },
]

/** Measures the CPU of a `tools/call` in memory with `telemetry()`, as a ratio to the same call without it. */
export const telemetryBenchmark: RatioBenchmark = { ids: rows.map(({ id }) => id), measure }

/** Runs the benchmark and prints its report. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await measure(optionsOf(options))
}

async function measure({ timing, only, print }: MeasureOptions): Promise<readonly Reading[]> {
  const selected = rows.filter(({ id }) => only === undefined || only.includes(id))
  // One call takes microseconds. Many short rounds lose less to a busy period of the machine than a few long ones.
  const [rounds, seconds] = [timing.rounds * 3, timing.seconds / 4]
  const targets: Target[] = []
  try {
    for (const name of [base, ...selected.map((row) => row.name)]) {
      const child: PinnedProcess<CostQuestion, CostAnswer> = await startPinned('telemetry/call-cost.js', 0)
      targets.push({ name, ...child })
    }
    print(`tools/call in memory with telemetry, Node ${process.version}; ${pinning}`)
    print(`${rounds} alternating rounds of ${seconds} s each; medians; ratios within a round`)
    for (const { name, ask } of targets) await ask({ configuration: name, seconds: timing.warmUp })
    const measured = await measureRounds(targets, rounds, ({ name, ask }) => ask({ configuration: name, seconds }))
    for (const { name } of targets) print(reportLine(measured, name))
    const readings = selected.map(({ id, name }) => readingOf(measured, id, name))
    for (const reading of readings) print(readingLine(reading))
    return readings
  } finally {
    for (const target of targets) await target.stop()
  }
}

const micros = (answer: CostAnswer): number => answer.micros

function readingOf(rounds: readonly Round<CostAnswer>[], id: RatioId, name: Configuration): Reading {
  const text = (of: Configuration): string => `${medianOf(rounds, of, micros).toFixed(1)} us`
  const cpu = shareOf(rounds, { name, base, of: micros })
  return { id, value: cpu, ours: text(name), floor: text(base), cpu }
}

function reportLine(rounds: readonly Round<CostAnswer>[], name: Configuration): string {
  const share = { name, base, of: micros }
  const shares = sharesOf(rounds, share)
  const columns = [
    name.padEnd(12),
    `${medianOf(rounds, name, micros).toFixed(1)} us CPU/call`.padStart(20),
    `${shareOf(rounds, share).toFixed(2)} x the call without`.padStart(26),
    `(${Math.min(...shares).toFixed(2)} to ${Math.max(...shares).toFixed(2)})`,
  ]
  return columns.join('  ')
}
