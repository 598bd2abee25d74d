import { mkdir, writeFile } from 'node:fs/promises'
import { print } from '../benchmark.ts'
import { pinning } from '../pinned-process.ts'
import { measureArguments } from './arguments.ts'
import { type Chart, drawChart } from './chart.ts'
import { measureStreams } from './streams.ts'
import { measureTasks } from './tasks.ts'
import { measureTools } from './tools.ts'

const charts = {
  tools: measureTools,
  streams: measureStreams,
  tasks: measureTasks,
  arguments: measureArguments,
} satisfies Record<string, (rounds: number) => Promise<Chart>>

const folder = new URL('../../../../docs/charts/', import.meta.url)

/**
 * Measures how the CPU of a server grows with its tools, streams, waiting tasks and arguments, prints the figures, and
 * draws the charts of `docs/performance.md`.
 *
 * Method: servers or sizes alternate within a round, and medians are shown. Streams are measured one server after the
 * other, because both together need more sockets than a process may open. Not measured: memory, and stores.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const rounds = quick ? 3 : 7
  print(`the CPU of a server, Node ${process.version}; ${pinning}; medians of ${rounds} rounds`)
  await mkdir(folder, { recursive: true })
  for (const [name, measure] of Object.entries(charts)) {
    const chart = await measure(rounds)
    print(chart.title)
    print(`  ${''.padEnd(20)}${chart.sizes.map((size) => size.padStart(10)).join('')}`)
    for (const line of chart.lines) {
      print(`  ${line.name.padEnd(20)}${line.values.map((value) => value.toPrecision(3).padStart(10)).join('')}`)
    }
    await writeFile(new URL(`growth-${name}.svg`, folder), drawChart(chart))
  }
}
