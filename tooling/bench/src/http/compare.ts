import { request } from 'undici'
import type { MeasureOptions } from '../benchmark.ts'
import { type PinnedProcess, pinning, startPinned } from '../pinned-process.ts'
import { measureRounds } from '../alternating-rounds.ts'
import { type Reading, readingLine } from '../wanted.ts'
import type { ServerAnswer, ServerQuestion } from './answer-questions.ts'
import type { Call } from './call.ts'
import type { LoadAnswer, LoadQuestion } from './load.ts'
import { type Measurement, type RatioRow, readingOf, reportLines } from './report.ts'

type Load = PinnedProcess<LoadQuestion, LoadAnswer>
type Server = PinnedProcess<ServerQuestion, ServerAnswer>

interface Target {
  readonly name: string
  readonly url: string
  readonly server: Server
}

/** A comparison of servers with a floor. */
export interface Comparison {
  readonly title: string
  /** The call that the load repeats. Each server must respond to it correctly before the measurement. */
  readonly call: Call
  /** The name of a request in the report. Default: call. */
  readonly unit?: string
  /** The program that sends the requests. Default: a program that repeats the call. */
  readonly load?: string
  /** The programs by their names in the report: `floor`, `ours`, and others. */
  readonly programs: Readonly<Record<string, string>>
  readonly rows: readonly RatioRow[]
}

/** Compares servers with the floor in alternating rounds, and prints a line for each server and for each ratio. */
export async function compare(comparison: Comparison, options: MeasureOptions): Promise<readonly Reading[]> {
  const { title, call, rows, programs, load: program = 'http/load.js' } = comparison
  const { timing, only, print } = options
  const selected = only === undefined ? rows : rows.filter(({ id }) => only.includes(id))
  const load: Load = await startPinned(program, 1)
  const targets: Target[] = []
  try {
    for (const name of only === undefined ? Object.keys(programs) : namesIn(selected)) {
      targets.push(await startTarget(name, programs[name] ?? '', call))
    }
    print(`${title}, body ${call.body.length} bytes, Node ${process.version}; ${pinning}`)
    print(`${timing.rounds} alternating rounds of ${timing.seconds} s each; medians; ratios within a round`)
    for (const { url } of targets) await load.ask({ url, call, connections: 16, seconds: timing.warmUp })
    const readings = await measureRows(comparison, { load, targets, selected, options })
    for (const reading of readings) print(readingLine(reading))
    return readings
  } finally {
    await Promise.all([load, ...targets.map(({ server }) => server)].map((child) => child.stop()))
  }
}

interface Setup {
  readonly load: Load
  readonly targets: readonly Target[]
  readonly selected: readonly RatioRow[]
  readonly options: MeasureOptions
}

/** Measures the servers at each number of connections. With `only`, it measures the servers that the rows need. */
async function measureRows({ call, unit = 'call' }: Comparison, setup: Setup): Promise<readonly Reading[]> {
  const { load, targets, selected, options } = setup
  const { timing, only, print } = options
  const readings: Reading[] = []
  for (const [connections, rows] of byConnections(selected)) {
    const compared = only === undefined ? targets : targets.filter(({ name }) => namesIn(rows).includes(name))
    const question = { call, connections, seconds: timing.seconds }
    const measured = await measureRounds(compared, timing.rounds, (target) => measureOne(load, target, question))
    for (const line of reportLines(measured, { connections, unit })) print(line)
    readings.push(...rows.map((row) => readingOf(measured, row)))
  }
  return readings
}

/** Returns the names of the servers that the rows need. The floor is first, because the report compares with it. */
function namesIn(rows: readonly RatioRow[]): readonly string[] {
  return [...new Set(['floor', ...rows.flatMap(({ name = 'ours', base = 'floor' }) => [base, name])])]
}

function byConnections(rows: readonly RatioRow[]): ReadonlyMap<number, readonly RatioRow[]> {
  const counts = new Set(rows.map(({ connections }) => connections))
  return new Map([...counts].map((count) => [count, rows.filter(({ connections }) => connections === count)]))
}

async function startTarget(name: string, program: string, { body, headers, expected }: Call): Promise<Target> {
  const server: Server = await startPinned(program, 0)
  const { url = '' } = await server.ask({ ask: 'url' })
  const response = await request(url, { method: 'POST', headers, body })
  const text = await response.body.text()
  if (response.statusCode === 200 && text.includes(expected)) return { name, url, server }
  await server.stop()
  throw new Error(`the ${name} server is wrong: it answered ${response.statusCode} ${text.slice(0, 500)}`)
}

async function measureOne(
  load: Load,
  { name, url, server }: Target,
  question: Omit<LoadQuestion, 'url'>,
): Promise<Measurement> {
  const before = await server.ask({ ask: 'cpu' })
  const { requests, failures, ...seen } = await load.ask({ url, ...question })
  const after = await server.ask({ ask: 'cpu' })
  if (failures > 0) throw new Error(`${failures} requests to the ${name} server failed: the measurement is invalid`)
  return { ...seen, cpuPerRequest: ((after.cpuMicroseconds ?? 0) - (before.cpuMicroseconds ?? 0)) / requests }
}
