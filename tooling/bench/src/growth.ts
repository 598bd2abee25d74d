import { mkdir, writeFile } from 'node:fs/promises'
import { median, measureRounds, medianOf, sharesOf } from './alternating.ts'
import { type Call, callOf, echoCall, expectedText } from './calls.ts'
import { drawLineChart, type LineChart } from './charts.ts'
import { measureWaitingTasks } from './growth-tasks.ts'
import { type CallMeasurement, checkAnswer, type Load, measureCalls } from './load.ts'
import { pinning, type RunningServer, startProgram, startServer } from './processes.ts'
import { print } from './ratios.ts'
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
 * a process may open; their memory is that of 10,000. Waiting tasks are in memory, in a process for each size. Not measured: memory, stores, and
 * arguments of many small values.
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
    await writeFile(new URL(`growth-${name}.svg`, folder), drawLineChart(chart))
  }
}

interface Target {
  readonly name: string
  readonly server: RunningServer
  readonly call: Call
}

/** Warms up the targets, measures calls of them in alternating rounds, and stops their servers. */
async function measureTargets(
  targets: readonly Target[],
  { rounds, connections, warmUp }: { readonly rounds: number; readonly connections: number; readonly warmUp: number },
): Promise<readonly ReadonlyMap<string, CallMeasurement>[]> {
  const load: Load = await startProgram('load/autocannon', 1)
  const measure = ({ server, call }: Target, seconds: number) =>
    measureCalls(load, server, { call, connections, seconds })
  try {
    for (const target of targets) {
      await checkAnswer(target.server, target.call)
      await measure(target, warmUp)
    }
    return await measureRounds(targets, rounds, (target) => measure(target, 1))
  } finally {
    await Promise.all([load, ...targets.map(({ server }) => server)].map((child) => child.stop()))
  }
}

const cpuOf = ({ cpu }: CallMeasurement): number => cpu
const inMilliseconds = ({ cpu }: CallMeasurement): number => cpu / 1000
const [ours, bare] = ['these packages', 'bare node:http']

/** Measures the CPU of a call of one tool, by the number of tools of the server. */
async function measureTools(rounds: number): Promise<LineChart> {
  const sizes = [1, 10, 100, 1000]
  const targets: Target[] = [{ name: 'floor', server: await startServer('floors/echo'), call: echoCall }]
  for (const size of sizes)
    targets.push({ name: String(size), server: await startServer(`our-servers/tools/${size}`), call: echoCall })
  const measured = await measureTargets(targets, { rounds, connections: 16, warmUp: 3 })
  const values = sizes.map((size) => median(sharesOf(measured, { name: String(size), base: 'floor', of: cpuOf })))
  return {
    title: "CPU of a call of the floor's, by tools",
    sizes: sizes.map((size) => size.toLocaleString('en')),
    logarithmic: false,
    lines: [
      { name: ours, values },
      { name: bare, values: sizes.map(() => 1) },
    ],
  }
}

/** Measures the CPU of one change that all open streams of a server receive, by the number of streams. */
async function drawStreams(rounds: number): Promise<LineChart> {
  const sizes = [1, 10, 100, 1000, 10_000]
  const lines: { readonly name: string; readonly values: readonly number[] }[] = []
  for (const [name, program] of [
    [ours, 'our-servers/streams'],
    [bare, 'floors/streams'],
  ] as const) {
    const { changes, heapBytes, residentBytes } = await measureStreams(program, sizes, rounds)
    lines.push({ name, values: changes.map((microseconds) => microseconds / 1000) })
    print(
      `an open stream of ${name}: ${(heapBytes / 1024).toFixed(1)} KB heap, ${(residentBytes / 1024).toFixed(1)} KB RSS`,
    )
  }
  const title = 'CPU of one change in ms, by open streams'
  return { title, sizes: sizes.map((size) => size.toLocaleString('en')), logarithmic: true, lines }
}

/** Measures the CPU of one more task up to its question, and of a plain call, by the number of tasks that wait. */
async function measureTasks(rounds: number): Promise<LineChart> {
  const { tasks, calls } = await measureWaitingTasks([1, 10, 100, 1000, 10_000, 100_000], rounds)
  return {
    title: 'CPU in us, by tasks that wait for an answer',
    sizes: ['1', '10', '100', '1k', '10k', '100k'],
    logarithmic: false,
    lines: [
      { name: 'one more task', values: tasks },
      { name: 'a plain call', values: calls },
    ],
  }
}

/** Measures the CPU of a call by the length of one text in its arguments. */
async function measureArguments(rounds: number): Promise<LineChart> {
  const lengths = { '1 KB': 1e3, '10 KB': 1e4, '100 KB': 1e5, '1 MB': 1e6, '4 MB': 4e6 }
  const sizes = Object.entries(lengths)
  const [floor, server] = [await startServer('floors/echo'), await startServer('our-servers/text')]
  const targets = sizes.flatMap(([label, length]): readonly Target[] => {
    const text = `${expectedText}. `.repeat(length / 40).slice(0, length)
    const call = callOf('tools/call', { name: 'measure_text', arguments: { text } }, `${length} characters`)
    return [
      { name: `floor ${label}`, server: floor, call: { ...call, expected: expectedText } },
      { name: `ours ${label}`, server, call },
    ]
  })
  const measured = await measureTargets(targets, { rounds, connections: 4, warmUp: 1 })
  const valuesOf = (name: string): readonly number[] =>
    sizes.map(([label]) => medianOf(measured, `${name} ${label}`, inMilliseconds))
  return {
    title: 'CPU of a call in ms, by a text in its arguments',
    sizes: sizes.map(([label]) => label),
    logarithmic: true,
    lines: [
      { name: ours, values: valuesOf('ours') },
      { name: bare, values: valuesOf('floor') },
    ],
  }
}
