import { request } from 'undici'
import { type PinnedProcess, pinning, startPinned } from '../pinned-process.ts'
import type { ServerAnswer, ServerQuestion } from './answer-questions.ts'
import { type Call, echoCall } from './call.ts'
import type { LoadAnswer, LoadQuestion } from './load.ts'
import { type Measurement, reportLines } from './report.ts'

type Load = PinnedProcess<LoadQuestion, LoadAnswer>
type Server = PinnedProcess<ServerQuestion, ServerAnswer>

interface Target {
  readonly name: string
  readonly url: string
  readonly server: Server
}

/** What is measured against a floor. */
export interface Comparison {
  readonly title: string
  readonly call: Call
  readonly connectionCounts: readonly number[]
  /** Programs by the name in the report; the first is `floor`. */
  readonly programs: readonly (readonly [string, string])[]
}

const toolCalls: Comparison = {
  title: 'tools/call of an echo tool',
  call: echoCall,
  connectionCounts: [1, 16, 64, 256],
  programs: [
    ['floor', 'http/floor-server.js'],
    ['ours', 'http/our-server.js'],
    ['500 tools', 'http/many-tools-server.js'],
    ['official', 'http/peer-server.js'],
  ],
}

/** Measures a tool call over HTTP against the floor of a bare `node:http` server, and beside the official SDK. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await compare(toolCalls, options)
}

/** Measures servers against the floor in alternating rounds, and prints a line for each. */
export async function compare(comparison: Comparison, { quick }: { readonly quick: boolean }): Promise<void> {
  const { title, call, connectionCounts, programs } = comparison
  const [rounds, seconds, warmUp] = quick ? [3, 1, 2] : [7, 3, 5]
  const load: Load = await startPinned('http/load.js', 1)
  const targets: Target[] = []
  try {
    for (const [name, program] of programs) targets.push(await startTarget(name, program, call))
    print(`${title}, body ${call.body.length} bytes, Node ${process.version}; ${pinning}`)
    print(`${rounds} alternating rounds of ${seconds} s each; medians; ratios within a round`)
    for (const target of targets) await load.ask({ url: target.url, call, connections: 16, seconds: warmUp })
    for (const connections of connectionCounts) {
      const measured = await measure({ load, targets, call, connections, rounds, seconds })
      for (const line of reportLines(connections, measured)) print(line)
    }
  } finally {
    await Promise.all([load, ...targets.map(({ server }) => server)].map((child) => child.stop()))
  }
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

interface Plan {
  readonly load: Load
  readonly targets: readonly Target[]
  readonly call: Call
  readonly connections: number
  readonly rounds: number
  readonly seconds: number
}

/** One list per round, with a measurement per target; every other round goes backwards. */
async function measure({ load, targets, call, connections, rounds, seconds }: Plan): Promise<readonly Measurement[][]> {
  const all: Measurement[][] = []
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? targets : targets.toReversed()
    const measured: Measurement[] = []
    for (const target of order) measured.push(await measureOne(load, target, { call, connections, seconds }))
    all.push(measured)
  }
  return all
}

async function measureOne(
  load: Load,
  { name, url, server }: Target,
  options: { readonly call: Call; readonly connections: number; readonly seconds: number },
): Promise<Measurement> {
  const before = await server.ask({ ask: 'cpu' })
  const { requests, perSecond, failures, ...times } = await load.ask({ url, ...options })
  const after = await server.ask({ ask: 'cpu' })
  if (failures > 0) throw new Error(`${failures} requests to the ${name} server failed: the numbers would mean nothing`)
  const cpuPerRequest = ((after.cpuMicroseconds ?? 0) - (before.cpuMicroseconds ?? 0)) / requests
  return {
    name,
    perSecond,
    cpuPerRequest,
    medianMilliseconds: times.medianMilliseconds,
    p99Milliseconds: times.p99Milliseconds,
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
