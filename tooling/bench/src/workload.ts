import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { findFreePort } from '@tooling/real-servers/free-port'
import { startRedis } from '@tooling/real-servers/redis'
import { nodeHandler } from '@x/transport-http/node'
import { bareServer, sendJson } from './floors.ts'
import {
  type MeasuredServer,
  pinning,
  type Program,
  type Programs,
  serveMeasured,
  startProgram,
  startServer,
} from './processes.ts'
import {
  compareTargets,
  type Comparison,
  cpuColumn,
  type CpuMeasurement,
  type RatioBenchmark,
  runBenchmarks,
  selectRows,
  selectTargets,
} from './ratios.ts'
import { copyExample, createExampleServer, openShop, type Shop } from './shop.ts'
import { seedRedis, type SessionLoadAnswer, type SessionLoadQuestion } from './workload-calls.ts'

interface Target {
  readonly name: string
  readonly program: string
  readonly form: SessionLoadQuestion['form']
}

const targets: readonly Target[] = [
  { name: 'floor', program: 'workload/floor', form: 'sessions' },
  { name: 'ours', program: 'workload/ours', form: 'sessions' },
  { name: 'official v1', program: 'official-v1/shop', form: 'sessions' },
  { name: 'official v2', program: 'official-v2/shop', form: 'sessions' },
  { name: 'floor, 2026-07-28', program: 'workload/floor', form: 'requests' },
  { name: 'ours, 2026-07-28', program: 'workload/ours', form: 'requests' },
]

const rows = [
  { id: 'workload/2025-06-18', name: 'ours', base: 'floor' },
  { id: 'workload/2026-07-28', name: 'ours, 2026-07-28', base: 'floor, 2026-07-28' },
] as const

interface Measurement extends CpuMeasurement {
  readonly callsPerSecond: number
  readonly requestsPerCall: number
  readonly peakMegabytes: number
}

const columns: Comparison<RunningTarget, Measurement>['columns'] = [
  cpuColumn,
  { unit: 'requests', of: ({ requestsPerCall }) => requestsPerCall },
  { unit: 'calls/s', of: ({ callsPerSecond }) => callsPerSecond, digits: 0 },
  { unit: 'MB', of: ({ peakMegabytes }) => peakMegabytes, digits: 0 },
]

type RunningTarget = Target & MeasuredServer

/**
 * The workload of the public benchmark of MCP servers (http4k/benchmark-mcp-servers-v2), rebuilt from its description.
 *
 * Method: 50 users alternate between three tools, which read and write Redis and an HTTP service of 100,000 products.
 * Each call has its own session: `initialize`, `notifications/initialized`, `tools/call`, `DELETE`; a server without
 * sessions gets no `DELETE`. At 2026-07-28 a call is one request. The floor does the work of the tool, and checks
 * nothing. The CPU of a call has all requests of its session. Servers are on one core; the load, Redis and the service
 * on the other. Each response is checked by the rules of that benchmark. Not measured: several processes of a server.
 */
export const workloadBenchmark: RatioBenchmark = {
  ids: rows.map(({ id }) => id),
  async measure(options) {
    const { timing } = options
    const selected = selectRows(rows, options)
    await using services = await startServices()
    const load: Program<SessionLoadQuestion, SessionLoadAnswer> = await startProgram('workload-calls/load', 1)
    const servers: RunningTarget[] = []
    const measure = async ({ name, form, url, ask }: RunningTarget, seconds: number): Promise<Measurement> => {
      const before = await ask('usage')
      const { calls, requests, failure } = await load.ask({ url, form, seconds })
      const after = await ask('usage')
      if (failure !== undefined) throw new Error(`The ${name} server is wrong: ${failure}`)
      const cpu = (after.cpu - before.cpu) / calls
      const peakMegabytes = after.peakBytes / 1e6
      return { cpu, callsPerSecond: calls / seconds, requestsPerCall: requests / calls, peakMegabytes }
    }
    try {
      for (const target of selectTargets(targets, selected, options))
        servers.push({ ...target, ...(await startServer(target.program, 0, services.environment)) })
      for (const server of servers) await measure(server, timing.warmUp)
      const title = `calls of three tools by 50 users; ${pinning}`
      return await compareTargets({ title, targets: servers, rows, columns, measure }, options)
    } finally {
      await Promise.all([load, ...servers].map((child) => child.stop()))
    }
  },
}

/** Runs the benchmark and prints its report. */
export function run(options: { readonly quick: boolean }): Promise<void> {
  return runBenchmarks([workloadBenchmark], options)
}

/** Redis with the data of the workload, and the product service. */
interface Services extends AsyncDisposable {
  /** The environment variables with the URLs of the services. */
  readonly environment: NodeJS.ProcessEnv
}

async function startServices(): Promise<Services> {
  await copyExample()
  const port = await findFreePort()
  // The last two arguments replace the settings that make Redis store every write on the disk.
  const redis = await startRedis('redis-server', ['--port', String(port), '--appendonly', 'no'])
  const products = await startServer('workload-calls/products', 1)
  await seedRedis(redis.path)
  return {
    environment: { REDIS_URL: `redis://127.0.0.1:${port}`, API_SERVICE_URL: new URL(products.url).origin },
    async [Symbol.asyncDispose]() {
      await Promise.all([products.stop(), redis.close()])
    },
  }
}

/** The floor, which serves both revisions because it does not read the revision, and our server. */
export const programs: Programs = {
  floor: async () => serveMeasured(floorServer(await openShop())),
  ours: async () => serveMeasured(createServer(nodeHandler(await createExampleServer(await openShop())))),
}

const tools: Readonly<Record<string, (shop: Shop, args: unknown) => Promise<object>>> = {
  search_products: ({ searchProducts }, args) => searchProducts(args),
  get_user_cart: ({ getUserCart }, args) => getUserCart(args),
  checkout: ({ checkout }, args) => checkout(args),
}
const serverInfo = { name: 'shop', version: '1.0.0' }
const initialized = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }

interface Message {
  readonly id?: number
  readonly method: string
  readonly params: { readonly name: string; readonly arguments: unknown }
}

function floorServer(shop: Shop): ReturnType<typeof bareServer> {
  return bareServer(async (body, request, response) => {
    if (request.method === 'DELETE') return void response.writeHead(204).end()
    const { id, method, params }: Message = JSON.parse(body)
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'initialize') {
      const text = JSON.stringify({ jsonrpc: '2.0', id, result: initialized })
      return sendJson(response, text, { 'Mcp-Session-Id': randomUUID() })
    }
    const found = (await tools[params.name]?.(shop, params.arguments)) ?? {}
    const content = [{ type: 'text', text: JSON.stringify(found) }]
    sendJson(response, JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', content } }))
  })
}
