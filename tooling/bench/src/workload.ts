import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { nodeHandler } from '@x/transport-http/node'
import { type CallMeasurement, measureCalls, startLoad, startTarget, stopTargets, type Target } from './load.ts'
import { sendJson } from './floors.ts'
import { bareServer } from './peers/bare-server.ts'
import { serveMeasured } from './peers/serve-measured.ts'
import { pinning, type Programs } from './processes.ts'
import { cpuColumn, type Pass, type RatioBenchmark, ratioBenchmark } from './ratios.ts'
import { importExample, openShop, type Shop } from './shop.ts'
import { olderSearchCall, startServices } from './workload-calls.ts'

/** The servers, each with the requests of a call: those of a session, or one of 2026-07-28. */
const servers = [
  { name: 'floor', program: 'workload/floor', load: 'sessions' },
  { name: 'ours', program: 'workload/ours', load: 'sessions' },
  { name: 'official v1', program: 'official-v1/shop', load: 'sessions' },
  { name: 'official v2', program: 'official-v2/shop', load: 'sessions' },
  { name: 'floor, 2026-07-28', program: 'workload/floor', load: 'requests' },
  { name: 'ours, 2026-07-28', program: 'workload/ours', load: 'requests' },
] as const

type Measurement = CallMeasurement & { readonly peakMegabytes: number }

const users = 50

const pass: Pass<Target, Measurement> = {
  title: `calls of three tools by ${users} users; ${pinning}`,
  rows: [
    { id: 'workload/2025-06-18' },
    { id: 'workload/2026-07-28', name: 'ours, 2026-07-28', base: 'floor, 2026-07-28' },
  ],
  columns: [
    cpuColumn,
    { unit: 'requests', of: ({ requests, calls }) => requests / calls },
    { unit: 'calls/s', of: ({ perSecond, requests, calls }) => (perSecond * calls) / requests, digits: 0 },
    { unit: 'MB', of: ({ peakMegabytes }) => peakMegabytes, digits: 0 },
  ],
  async measure(target, time) {
    const { cpu, ...seen } = await measureCalls(target, { ...time, users })
    const { peakBytes } = await target.ask('usage')
    return { ...seen, cpu: (cpu * seen.requests) / seen.calls, peakMegabytes: peakBytes / 1e6 }
  },
}

/**
 * The workload of the public benchmark of MCP servers (http4k/benchmark-mcp-servers-v2), rebuilt from its description.
 *
 * Method: 50 users alternate between three tools, which read and write Redis and an HTTP service of 100,000 products.
 * Each call has its own session: `initialize`, `notifications/initialized`, `tools/call`, `DELETE`; a server without
 * sessions gets no `DELETE`. At 2026-07-28 a call is one request. The floor does the work of the tool, and checks
 * nothing. The CPU of a call has all requests of its session. Servers are on one core; the load, Redis and the service
 * on the other. Each response is checked by the rules of that benchmark. Not measured: several processes of a server.
 */
export const ratios: readonly RatioBenchmark[] = [
  ratioBenchmark({
    targets: servers.map((server) => ({ name: server.name, start: () => startShop(server) })),
    passes: [pass],
    stop: async (targets) => {
      await stopTargets(targets)
      await (await services)?.[Symbol.asyncDispose]()
      services = undefined
    },
  }),
]

let services: ReturnType<typeof startServices> | undefined

async function startShop({ name, program, load }: (typeof servers)[number]): Promise<Target> {
  const { environment } = await (services ??= startServices())
  const target = { name, call: olderSearchCall, load: await startLoad(`workload-calls/${load}`) }
  return startTarget(program, target, { environment })
}

/** The floor, which serves both revisions because it does not read the revision, and our server. */
export const programs: Programs = {
  floor: async () => serveMeasured(floorServer(await openShop())),
  ours: async () => {
    const { createShopServer } = await importExample('definition.mjs')
    await serveMeasured(createServer(nodeHandler(createShopServer(await openShop()))))
  },
}

const tools: Readonly<Record<string, keyof Shop>> = {
  search_products: 'searchProducts',
  get_user_cart: 'getUserCart',
  checkout: 'checkout',
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
    const work = tools[params.name]
    const found = work === undefined ? {} : await shop[work](params.arguments)
    const content = [{ type: 'text', text: JSON.stringify(found) }]
    sendJson(response, JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', content } }))
  })
}
