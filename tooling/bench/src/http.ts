import { type Call, callOf, echoCall, expectedText, progressCall } from './calls.ts'
import { firstCall } from './flow-calls.ts'
import {
  type CallMeasurement,
  measureCalls,
  rateColumn,
  startLoad,
  startTarget,
  stopTargets,
  type Target,
} from './load.ts'
import { pinning } from './processes.ts'
import { cpuColumn, type RatioBenchmark, ratioBenchmark, type RatioRow } from './ratios.ts'

/** A comparison of servers over HTTP. */
interface HttpComparison {
  readonly title: string
  /** The call that the load repeats. Each server must respond to it correctly before the measurement. */
  readonly call: Call
  /** The program that sends the requests. Default: one that repeats the call. */
  readonly load?: string
  /** The program of each server. */
  readonly servers: Readonly<Record<string, string>>
  readonly rows: readonly (RatioRow<CallMeasurement> & { readonly users: number })[]
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
  servers: {
    floor: 'floors/echo',
    ours: 'our-servers/tools/1',
    '500 tools': 'our-servers/tools/500',
    'by hand': 'by-hand/echo',
    'official v2': 'official-v2/echo',
  },
  rows: [
    { id: 'http/1', users: 1 },
    { id: 'http/16', users: 16 },
    { id: 'http/by-hand', users: 16, base: 'by hand', column: cpuColumn },
    { id: 'http/both', users: 16, base: ['by hand', 'official v2'], column: cpuColumn },
    { id: 'http/500-tools', users: 16, name: '500 tools', base: 'ours' },
    { id: 'http/64', users: 64 },
    { id: 'http/tail', users: 64, column: tail },
    { id: 'http/256', users: 256 },
  ],
}

const fetch: HttpComparison = {
  title: 'tools/call of an echo tool by the fetch handler, on @hono/node-server',
  call: echoCall,
  servers: { floor: 'floors/fetch', ours: 'our-servers/fetch', 'official v2': 'official-v2/fetch' },
  rows: [
    { id: 'fetch/1', users: 1 },
    { id: 'fetch/16', users: 16 },
    { id: 'fetch/both', users: 16, base: ['floor', 'official v2'], column: cpuColumn },
    { id: 'fetch/64', users: 64 },
  ],
}

const list: HttpComparison = {
  title: 'tools/list with 500 tools',
  call: callOf('tools/list', {}, '"tool-498"'),
  servers: { floor: 'floors/list', ours: 'our-servers/tools/500' },
  rows: [
    { id: 'list/1', users: 1 },
    { id: 'list/16', users: 16 },
  ],
}

const stream: HttpComparison = {
  title: 'tools/call with 1,000 notifications of progress',
  call: progressCall,
  servers: { floor: 'floors/progress', ours: 'our-servers/progress' },
  rows: [
    { id: 'stream/1', users: 1 },
    { id: 'stream/16', users: 16 },
  ],
}

const rounds: HttpComparison = {
  title: 'POSTs of a tool that asks twice, three a call',
  call: firstCall,
  load: 'flow/current',
  servers: {
    floor: 'floors/flow',
    ours: 'our-servers/flow',
    'by hand': 'by-hand/flow',
    'official v2': 'official-v2/flow',
  },
  rows: [
    { id: 'rounds/16', users: 16 },
    { id: 'rounds/by-hand', users: 16, base: 'by hand', column: cpuColumn },
    { id: 'rounds/both', users: 16, base: ['by hand', 'official v2'], column: cpuColumn },
  ],
}

const inlineRounds: HttpComparison = {
  ...rounds,
  title: 'the same, with schemas that the handler builds in each run',
  servers: {
    floor: 'floors/flow',
    ours: 'our-servers/flow/inline',
    'by hand': 'by-hand/flow',
    'official v2': 'official-v2/flow',
  },
  rows: [
    { id: 'rounds/16-inline', users: 16 },
    { id: 'rounds/inline-by-hand', users: 16, base: 'by hand', column: cpuColumn },
    { id: 'rounds/inline-both', users: 16, base: ['by hand', 'official v2'], column: cpuColumn },
  ],
}

const hop: HttpComparison = {
  title: 'tools/call of an echo tool through a proxy',
  call: echoCall,
  servers: { floor: 'floors/proxy/tools', ours: 'our-servers/proxy/tools' },
  rows: [{ id: 'hop/cpu', users: 16, column: cpuColumn }],
}

const progressHop: HttpComparison = {
  title: 'tools/call with 1,000 notifications of progress through a proxy',
  call: progressCall,
  servers: { floor: 'floors/proxy/progress', ours: 'our-servers/proxy/progress' },
  rows: [{ id: 'hop/progress', users: 1 }],
}

const gateway: HttpComparison = {
  title: 'tools/call of an echo tool through a gateway with two upstreams',
  call: callOf('tools/call', { name: 'one__echo', arguments: { text: expectedText, times: 1 } }, expectedText),
  servers: { floor: 'floors/proxy/echoes', ours: 'our-servers/gateway' },
  rows: [{ id: 'gateway/cpu', users: 16, column: cpuColumn }],
}

/**
 * The comparisons of each command.
 *
 * Method: that of the README. `/s` is what the load received: with 1 connection the load's own work counts in it. The
 * floors check nothing, and answer a fixed text of the same size. They serve each request as it comes; ours serves what
 * a turn of the event loop brings together. Not measured: large bodies, TLS, the client, and a network.
 */
const commands: Readonly<Record<string, readonly HttpComparison[]>> = {
  http: [http],
  fetch: [fetch],
  list: [list],
  rounds: [rounds, inlineRounds],
  stream: [stream],
  hop: [hop, progressHop],
  gateway: [gateway],
}

/** The benchmarks of each command. */
export const httpRatios: ReadonlyMap<string, readonly RatioBenchmark[]> = new Map(
  Object.entries(commands).map(([name, comparisons]) => [name, comparisons.map(benchmarkOf)]),
)

function benchmarkOf({ title, call, servers, rows, load: program }: HttpComparison): RatioBenchmark {
  let load: ReturnType<typeof startLoad> | undefined
  const start = async (name: string, server: string): Promise<Target> =>
    startTarget(server, { name, call, load: await (load ??= startLoad(program)) })
  return ratioBenchmark<Target, CallMeasurement>({
    targets: Object.entries(servers).map(([name, server]) => ({ name, start: () => start(name, server) })),
    passes: [...new Set(rows.map(({ users }) => users))].map((users) => ({
      title: `${title}, ${users} connections; ${pinning}`,
      rows: rows.filter((row) => row.users === users),
      columns: [rateColumn, cpuColumn, { unit: 'ms p99', of: (one) => one.p99Milliseconds, digits: 2 }],
      measure: (target, time) => measureCalls(target, { ...time, users }),
    })),
    warm: (target, time) => measureCalls(target, { ...time, users: 16 }),
    stop: async (targets) => {
      load = undefined
      await stopTargets(targets)
    },
  })
}
