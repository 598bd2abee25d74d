import { echoCall, expectedText } from './calls.ts'
import { bareServer, sendJson } from './floors.ts'
import {
  answerQuestions,
  pinning,
  type Program,
  type Programs,
  serveMeasured,
  startProgram,
  startServer,
} from './processes.ts'
import {
  compareTargets,
  cpuColumn,
  type CpuMeasurement,
  type RatioBenchmark,
  type Reading,
  runBenchmarks,
  selectRows,
} from './ratios.ts'

const rows = [
  { id: 'client/1', inFlight: 1, base: 'undici' },
  { id: 'client/16', inFlight: 16, base: 'undici' },
] as const

interface Question {
  readonly url: string
  readonly inFlight: number
  readonly seconds: number
}

interface Measurement extends CpuMeasurement {
  readonly perSecond: number
}

/**
 * Compares the calls a second of a client on one core with bare undici, which sends a fixed text and parses the answer,
 * and with the official SDK.
 *
 * Method: the clients are processes on core 1 and take turns within a round; the server is a bare one on core 0, which
 * answers with the id of the request. Each call must get the right answer. Not measured: lists and their cache,
 * streams, rounds, TLS, and a network.
 */
export const clientBenchmark: RatioBenchmark = {
  ids: rows.map(({ id }) => id),
  async measure(options) {
    const server = await startServer('client/server')
    const clients: (Program<Question, Measurement> & { readonly name: string })[] = []
    const { url } = server
    try {
      for (const name of ['undici', 'ours', 'official v2'])
        clients.push({ name, ...(await startProgram<Question, Measurement>(`client/${name}`, 1)) })
      for (const { ask } of clients) await ask({ url, inFlight: 16, seconds: options.timing.warmUp })
      const readings: Reading[] = []
      for (const { inFlight, ...row } of selectRows(rows, options)) {
        const title = `tools/call of an echo tool by a client, ${inFlight} in flight; ${pinning}`
        const rate = { unit: '/s', of: ({ perSecond }: Measurement) => perSecond, digits: 0 }
        const measure = ({ ask }: (typeof clients)[number], seconds: number) => ask({ url, inFlight, seconds })
        const comparison = { title, targets: clients, base: 'undici', rows: [row], measure }
        readings.push(...(await compareTargets({ ...comparison, columns: [rate, cpuColumn] }, options)))
      }
      return readings
    } finally {
      for (const child of [server, ...clients]) await child.stop()
    }
  },
}

/** Runs the benchmark and prints its report. */
export function run(options: { readonly quick: boolean }): Promise<void> {
  return runBenchmarks([clientBenchmark], options)
}

type EchoCall = () => Promise<unknown>
type TextContent = readonly { readonly type: string; readonly text?: unknown }[]

/** The clients, and a bare server. A correct client rejects a response with another id than that of its request. */
export const programs: Programs = {
  server: () => serveMeasured(answeringServer()),
  undici: async () => {
    const { Pool } = await import('undici')
    const { body, headers } = echoCall
    serveCalls((url) => {
      const pool = new Pool(new URL(url).origin, { connections: 16 })
      return async () => {
        const response = await pool.request({ path: '/mcp', method: 'POST', headers, body })
        const answer: { result: { content: TextContent } } = JSON.parse(await response.body.text())
        return answer.result.content[0]?.text
      }
    })
  },
  ours: async () => {
    const { createClient } = await import('@x/client')
    const { connectHttp } = await import('@x/transport-http/client')
    serveCalls((url) => {
      const names = { name: 'bench-client', version: '1.0.0', capabilities: { elicitation: {} } }
      const client = createClient(connectHttp(url), names)
      return async () => textIn((await client.callTool('echo', { text: expectedText, times: 1 })).content)
    })
  },
  'official v2': async () => {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
    serveCalls(async (url) => {
      const mode = { pin: '2026-07-28' } as const
      const client = new Client({ name: 'bench-client', version: '1.0.0' }, { versionNegotiation: { mode } })
      await client.connect(new StreamableHTTPClientTransport(new URL(url)))
      const call = { name: 'echo', arguments: { text: expectedText, times: 1 } }
      return async () => textIn((await client.callTool(call)).content)
    })
  },
}

function textIn([first]: TextContent): unknown {
  return first?.type === 'text' ? first.text : undefined
}

/** Keeps a number of calls in flight for some seconds, for each question. */
function serveCalls(connect: (url: string) => Promise<EchoCall> | EchoCall): void {
  let connected: Promise<EchoCall> | undefined
  answerQuestions(async ({ url, inFlight, seconds }: Question): Promise<Measurement> => {
    connected ??= Promise.resolve(connect(url))
    const call = await connected
    const text = await call()
    if (text !== expectedText) throw new Error(`no echo: ${String(text)}`)
    const started = performance.now()
    const before = process.cpuUsage()
    let made = 0
    const keepCalling = async (): Promise<void> => {
      while (performance.now() < started + seconds * 1000) {
        await call()
        made++
      }
    }
    await Promise.all(Array.from({ length: inFlight }, keepCalling))
    const { user, system } = process.cpuUsage(before)
    return { perSecond: (made * 1000) / (performance.now() - started), cpu: (user + system) / made }
  })
}

function answeringServer(): ReturnType<typeof bareServer> {
  const _meta = { 'io.modelcontextprotocol/serverInfo': { name: 'bench', version: '1.0.0' } }
  const hints = { resultType: 'complete', ttlMs: 3_600_000, cacheScope: 'public', _meta }
  const inputSchema = { type: 'object', properties: { text: { type: 'string' }, times: { type: 'integer' } } }
  const results = new Map(
    Object.entries({
      'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ...hints },
      'tools/list': { tools: [{ name: 'echo', inputSchema }], ...hints },
      'tools/call': { resultType: 'complete', content: [{ type: 'text', text: expectedText }], _meta },
    }).map(([method, result]) => [method, JSON.stringify(result)]),
  )
  return bareServer((text, _request, response) => {
    const { id, method }: { id: number | string; method: string } = JSON.parse(text)
    sendJson(response, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${results.get(method) ?? '{}'}}`)
  })
}
