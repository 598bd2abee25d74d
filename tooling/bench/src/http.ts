import { type Call, callOf, echoCall, expectedText, progressCall } from './calls.ts'
import { firstCall } from './flow-calls.ts'
import { type CallMeasurement, checkAnswer, type Load, measureCalls, rateColumn } from './load.ts'
import { type MeasuredServer, pinning, startProgram, startServer } from './processes.ts'
import {
  compareTargets,
  cpuColumn,
  type RatioBenchmark,
  type RatioRow,
  type Reading,
  runBenchmarks,
  selectRows,
  selectTargets,
} from './ratios.ts'

/** A comparison of servers over HTTP. */
interface HttpComparison {
  readonly title: string
  /** The call that the load repeats. Each server must respond to it correctly before the measurement. */
  readonly call: Call
  /** The program that sends the requests. Default: one that repeats the call. */
  readonly load?: string
  readonly servers: readonly { readonly name: string; readonly program: string }[]
  readonly rows: readonly (RatioRow<CallMeasurement> & { readonly connections: number })[]
}

/** With a fixed number of requests in flight all times grow as the rate falls. The tail is p99 without that effect. */
const tail = {
  unit: 'x the median',
  of: (one: CallMeasurement) => one.p99Milliseconds / one.medianMilliseconds,
  digits: 2,
}

const http: HttpComparison = {
  title: 'tools/call of an echo tool',
  call: echoCall,
  servers: [
    { name: 'floor', program: 'floors/echo' },
    { name: 'ours', program: 'our-servers/tools/1' },
    { name: '500 tools', program: 'our-servers/tools/500' },
    { name: 'by hand', program: 'by-hand/echo' },
    { name: 'official v2', program: 'official-v2/echo' },
  ],
  rows: [
    { id: 'http/1', connections: 1 },
    { id: 'http/16', connections: 16 },
    { id: 'http/by-hand', connections: 16, base: 'by hand', column: cpuColumn },
    { id: 'http/500-tools', connections: 16, name: '500 tools', base: 'ours' },
    { id: 'http/64', connections: 64 },
    { id: 'http/tail', connections: 64, column: tail },
    { id: 'http/256', connections: 256 },
  ],
}

const fetch: HttpComparison = {
  title: 'tools/call of an echo tool by the fetch handler, on @hono/node-server',
  call: echoCall,
  servers: [
    { name: 'floor', program: 'floors/fetch' },
    { name: 'ours', program: 'our-servers/fetch' },
    { name: 'official v2', program: 'official-v2/fetch' },
  ],
  rows: [
    { id: 'fetch/1', connections: 1 },
    { id: 'fetch/16', connections: 16 },
    { id: 'fetch/64', connections: 64 },
  ],
}

const list: HttpComparison = {
  title: 'tools/list with 500 tools',
  call: callOf('tools/list', {}, '"tool-498"'),
  servers: [
    { name: 'floor', program: 'floors/list' },
    { name: 'ours', program: 'our-servers/tools/500' },
  ],
  rows: [
    { id: 'list/1', connections: 1 },
    { id: 'list/16', connections: 16 },
  ],
}

const stream: HttpComparison = {
  title: 'tools/call with 1,000 notifications of progress',
  call: progressCall,
  servers: [
    { name: 'floor', program: 'floors/progress' },
    { name: 'ours', program: 'our-servers/progress' },
  ],
  rows: [
    { id: 'stream/1', connections: 1 },
    { id: 'stream/16', connections: 16 },
  ],
}

const rounds: HttpComparison = {
  title: 'POSTs of a tool that asks twice, three a call',
  call: firstCall,
  load: 'flow/current',
  servers: [
    { name: 'floor', program: 'floors/flow' },
    { name: 'ours', program: 'our-servers/flow' },
    { name: 'by hand', program: 'by-hand/flow' },
    { name: 'official v2', program: 'official-v2/flow' },
  ],
  rows: [
    { id: 'rounds/16', connections: 16 },
    { id: 'rounds/by-hand', connections: 16, base: 'by hand', column: cpuColumn },
  ],
}

const inlineRounds: HttpComparison = {
  ...rounds,
  title: 'the same, with schemas that the handler builds in each run',
  servers: [
    { name: 'floor', program: 'floors/flow' },
    { name: 'ours', program: 'our-servers/flow/inline' },
    { name: 'by hand', program: 'by-hand/flow' },
  ],
  rows: [
    { id: 'rounds/16-inline', connections: 16 },
    { id: 'rounds/inline-by-hand', connections: 16, base: 'by hand', column: cpuColumn },
  ],
}

const hop: HttpComparison = {
  title: 'tools/call of an echo tool through a proxy',
  call: echoCall,
  servers: [
    { name: 'floor', program: 'floors/proxy/tools' },
    { name: 'ours', program: 'our-servers/proxy/tools' },
  ],
  rows: [{ id: 'hop/cpu', connections: 16, column: cpuColumn }],
}

const progressHop: HttpComparison = {
  title: 'tools/call with 1,000 notifications of progress through a proxy',
  call: progressCall,
  servers: [
    { name: 'floor', program: 'floors/proxy/progress' },
    { name: 'ours', program: 'our-servers/proxy/progress' },
  ],
  rows: [{ id: 'hop/progress', connections: 1 }],
}

const gateway: HttpComparison = {
  title: 'tools/call of an echo tool through a gateway with two upstreams',
  call: callOf('tools/call', { name: 'one__echo', arguments: { text: expectedText, times: 1 } }, expectedText),
  servers: [
    { name: 'floor', program: 'floors/proxy/echoes' },
    { name: 'ours', program: 'our-servers/gateway' },
  ],
  rows: [{ id: 'gateway/cpu', connections: 16, column: cpuColumn }],
}

/**
 * The comparisons of each command.
 *
 * Method: each server is a process on core 0, and the load one on core 1. Servers take turns within a round, every
 * other round backwards, and ratios are formed within a round. All are warmed up, each must give the right answer
 * first, and a failed request ends the run. `/s` is what the load received: with 1 connection the load's own work
 * counts in it. CPU is that of the server's process, and hardly depends on what else runs.
 *
 * The floors check nothing, and answer a fixed text of the same size. They serve each request as it comes; ours serves
 * what a turn of the event loop brings together. Not measured: large bodies, TLS, the client, and a network.
 */
const httpBenchmarks = {
  http: [http],
  fetch: [fetch],
  list: [list],
  rounds: [rounds, inlineRounds],
  stream: [stream],
  hop: [hop, progressHop],
  gateway: [gateway],
} satisfies Readonly<Record<string, readonly HttpComparison[]>>

/** All comparisons as benchmarks with ratios. */
export const httpRatios: readonly RatioBenchmark[] = Object.values(httpBenchmarks).flat().map(benchmarkOf)

/** The name of a command. */
export type HttpName = keyof typeof httpBenchmarks

/** Runs the comparisons of a command, and prints their reports. */
export function runHttp(name: HttpName, options: { readonly quick: boolean }): Promise<void> {
  return runBenchmarks(httpBenchmarks[name].map(benchmarkOf), options)
}

function benchmarkOf(comparison: HttpComparison): RatioBenchmark {
  const { title, call, servers, rows, load: program } = comparison
  const measure: RatioBenchmark['measure'] = async (options) => {
    const { timing } = options
    const { unit, warmUp } = timing
    const selected = selectRows(rows, options)
    const usual = unit === 'cpu' ? 'load/sockets' : 'load/autocannon'
    const load: Load = await startProgram(program ?? usual, 1)
    const targets: (MeasuredServer & { readonly name: string })[] = []
    try {
      for (const { name, program: started } of selectTargets(servers, selected, options)) {
        const target = { name, ...(await startServer(started)) }
        targets.push(target)
        await checkAnswer(target, call)
      }
      for (const target of targets) await measureCalls(load, target, { call, connections: 16, unit, seconds: warmUp })
      const readings: Reading[] = []
      for (const connections of new Set(selected.map((row) => row.connections))) {
        const comparison = {
          title: `${title}, ${connections} connections; ${pinning}`,
          targets,
          rows: selected.filter((row) => row.connections === connections),
          columns: [rateColumn, cpuColumn, { unit: 'ms p99', of: (one) => one.p99Milliseconds, digits: 2 }],
          measure: (target, seconds) => measureCalls(load, target, { call, connections, unit, seconds }),
        } satisfies Parameters<typeof compareTargets<(typeof targets)[number], CallMeasurement>>[0]
        readings.push(...(await compareTargets(comparison, options)))
      }
      return readings
    } finally {
      await Promise.all([load, ...targets].map((child) => child.stop()))
    }
  }
  return { ids: rows.map(({ id }) => id), measure }
}
