import { mkdir, writeFile } from 'node:fs/promises'
import { measureRounds, median, medianOf, sharesOf } from './alternating.ts'
import { callOf, echoCall, expectedText } from './calls.ts'
import { drawLineChart, type LineChart } from './charts.ts'
import type { TasksQuestion } from './growth-tasks.ts'
import { type CallMeasurement, measureTargets, startLoad, startTarget, type Target } from './load.ts'
import { pinning, type Program, startProgram, startServer, stopAll } from './processes.ts'
import { type CpuMeasurement, print } from './ratios.ts'
import { measureStreams } from './streams.ts'

const charts: Readonly<Record<string, (rounds: number) => Promise<LineChart>>> = {
  tools: measureTools,
  streams: drawStreams,
  tasks: measureTasks,
  arguments: measureArguments,
}

const folder = new URL('../../../docs/charts/', import.meta.url)

/**
 * Measures how the CPU of a server grows with its tools, streams, waiting tasks and arguments, prints the figures, and
 * draws the charts of `docs/performance.md`.
 *
 * Method: servers or sizes alternate within a round, and medians are shown. Calls come over 16 connections, those with
 * long arguments over 4. Streams are measured one server after the other, because both together need more sockets than
 * a process may open; their memory is that of 10,000. Waiting tasks are in memory, in a process for each size. Not
 * measured: stores, and arguments of many small values.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const rounds = quick ? 3 : 7
  print(`the CPU of a server, Node ${process.version}; ${pinning}; medians of ${rounds} rounds`)
  await mkdir(folder, { recursive: true })
  for (const [name, measure] of Object.entries(charts)) {
    const chart = await measure(rounds)
    print(chart.title)
    print(`  ${''.padEnd(20)}${chart.sizes.map((size) => size.padStart(10)).join('')}`)
    for (const [line, values] of Object.entries(chart.lines)) {
      print(`  ${line.padEnd(20)}${values.map((value) => value.toPrecision(3).padStart(10)).join('')}`)
    }
    await writeFile(new URL(`growth-${name}.svg`, folder), drawLineChart(chart))
  }
}

const inMilliseconds = ({ cpu }: CallMeasurement): number => cpu / 1000
const [ours, bare] = ['these packages', 'bare node:http']

/** Measures the CPU of a call of one tool, by the number of tools of the server. */
async function measureTools(rounds: number): Promise<LineChart> {
  const sizes = [1, 10, 100, 1000]
  const load = await startLoad()
  const targets = [await startTarget('floors/echo', { name: 'floor', call: echoCall, load })]
  for (const size of sizes)
    targets.push(await startTarget(`our-servers/tools/${size}`, { name: String(size), call: echoCall, load }))
  const measured = await measureTargets(targets, { rounds, users: 16, warmUp: 3, seconds: 1 })
  const values = sizes.map((size) =>
    median(sharesOf(measured, { name: String(size), base: 'floor', of: inMilliseconds })),
  )
  return {
    title: "CPU of a call of the floor's, by tools",
    sizes: sizes.map((size) => size.toLocaleString('en')),
    logarithmic: false,
    lines: { [ours]: values, [bare]: sizes.map(() => 1) },
  }
}

/** Measures the CPU of one change that all open streams of a server receive, by the number of streams. */
async function drawStreams(rounds: number): Promise<LineChart> {
  const sizes = [1, 10, 100, 1000, 10_000]
  const lines: Record<string, readonly number[]> = {}
  const programs = { [ours]: 'our-servers/streams', [bare]: 'floors/streams' }
  for (const [name, program] of Object.entries(programs)) {
    const { changes, heapBytes, residentBytes } = await measureStreams(program, sizes, rounds)
    lines[name] = changes.map((microseconds) => microseconds / 1000)
    print(
      `an open stream of ${name}: ${(heapBytes / 1024).toFixed(1)} KB heap, ${(residentBytes / 1024).toFixed(1)} KB RSS`,
    )
  }
  const title = 'CPU of one change in ms, by open streams'
  return { title, sizes: sizes.map((size) => size.toLocaleString('en')), logarithmic: true, lines }
}

/** Measures the CPU of one more task up to its question, and of a plain call, by the number of tasks that wait. */
async function measureTasks(rounds: number): Promise<LineChart> {
  const sizes = { '1': 1, '10': 10, '100': 100, '1k': 1000, '10k': 10_000, '100k': 100_000 }
  const targets: (Program<TasksQuestion, CpuMeasurement> & { readonly name: string })[] = []
  for (const [name, size] of Object.entries(sizes))
    targets.push({ name, ...(await startProgram(`growth-tasks/server/${size}`, { core: 0 })) })
  const measured = await measureRounds(targets, rounds, async ({ ask }) => ({
    task: (await ask({ make: 'tasks', count: 100 })).cpu,
    call: (await ask({ make: 'calls', count: 2000 })).cpu,
  }))
  await stopAll(targets)
  const medians = (of: 'task' | 'call') => targets.map(({ name }) => medianOf(measured, name, (one) => one[of]))
  return {
    title: 'CPU in us, by tasks that wait for an answer',
    sizes: Object.keys(sizes),
    logarithmic: false,
    lines: { 'one more task': medians('task'), 'a plain call': medians('call') },
  }
}

/** Measures the CPU of a call by the length of one text in its arguments. */
async function measureArguments(rounds: number): Promise<LineChart> {
  const lengths = { '1 KB': 1e3, '10 KB': 1e4, '100 KB': 1e5, '1 MB': 1e6, '4 MB': 4e6 }
  const load = await startLoad()
  const [floor, server] = [await startServer('floors/echo'), await startServer('our-servers/text')]
  const targets = Object.entries(lengths).flatMap(([label, length]): readonly Target[] => {
    const text = `${expectedText}. `.repeat(length / 40).slice(0, length)
    const call = callOf('tools/call', { name: 'measure_text', arguments: { text } }, `${length} characters`)
    return [
      { ...floor, name: `floor ${label}`, call: { ...call, expected: expectedText }, load },
      { ...server, name: `ours ${label}`, call, load },
    ]
  })
  const measured = await measureTargets(targets, { rounds, users: 4, warmUp: 1, seconds: 1 })
  const sizes = Object.keys(lengths)
  const valuesOf = (name: string): readonly number[] =>
    sizes.map((label) => medianOf(measured, `${name} ${label}`, inMilliseconds))
  return {
    title: 'CPU of a call in ms, by a text in its arguments',
    sizes,
    logarithmic: true,
    lines: { [ours]: valuesOf('ours'), [bare]: valuesOf('floor') },
  }
}
