import { request } from 'undici'
import type { MeasureOptions, Timing } from '../benchmark.ts'
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
  const { title, call, rows, programs, load: program } = comparison
  const { timing, only, print } = options
  const selected = only === undefined ? rows : rows.filter(({ id }) => only.includes(id))
  const load: Load = await startPinned(program ?? loadFor(timing), 1)
  const targets: Target[] = []
  try {
    for (const name of only === undefined ? Object.keys(programs) : namesIn(selected)) {
      targets.push(await startTarget(name, programs[name] ?? '', call))
    }
    print(`${title}, body ${call.body.length} bytes, Node ${process.version}; ${pinning}`)
    print(`${timing.rounds} alternating rounds of ${timing.seconds} s each; medians; ratios within a round`)
    const question = { call, connections: 16 }
    for (const target of targets) await measureOne(load, target, { ...question, timing, seconds: timing.warmUp })
    const readings = await measureRows(comparison, { load, targets, selected, options })
    for (const reading of readings) print(readingLine(reading))
    return readings
  } finally {
    await Promise.all([load, ...targets.map(({ server }) => server)].map((child) => child.stop()))
  }
}

/** Returns a load that can end within a slice. autocannon ends on whole seconds. */
function loadFor({ unit }: Timing): string {
  return unit === 'cpu' ? 'http/short-load-client.js' : 'http/load.js'
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
    const question = { call, connections, timing, seconds: timing.seconds }
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

interface MeasureQuestion extends Omit<LoadQuestion, 'url'> {
  readonly timing: Timing
}

/** The seconds of one load of a server whose CPU limits the measurement. */
const slice = 0.25

async function measureOne(
  load: Load,
  { name, url, server }: Target,
  { timing, seconds, ...question }: MeasureQuestion,
): Promise<Measurement> {
  const before = await cpuOf(server)
  const isSliced = timing.unit === 'cpu'
  let requests = 0
  for (;;) {
    const {
      requests: more,
      failures,
      ...seen
    } = await load.ask({ url, ...question, seconds: isSliced ? slice : seconds })
    requests += more
    const used = (await cpuOf(server)) - before
    if (failures > 0) throw new Error(`${failures} requests to the ${name} server failed: the measurement is invalid`)
    if (!isSliced || used >= seconds * 1e6) return { ...seen, cpuPerRequest: used / requests }
  }
}

async function cpuOf(server: Server): Promise<number> {
  const { cpuMicroseconds = 0 } = await server.ask({ ask: 'cpu' })
  return cpuMicroseconds
}
