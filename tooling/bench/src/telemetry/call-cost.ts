import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { createCall, type Server } from '@x/exchange'
import type { RpcRequest } from '@x/schema'
import { createServer, tool } from '@x/server'
import { telemetry } from '@x/server/otel'

/** The telemetry of a process: none, the API without an SDK, or the SDK with a share of the traces sampled. */
export type Configuration = 'none' | 'api' | 'sampled-1' | 'sampled-100'

/** A question of the benchmark to the process of one configuration. */
export interface CostQuestion {
  readonly configuration: Configuration
  readonly seconds: number
}

/** The CPU of one call in microseconds, user and system. */
export interface CostAnswer {
  readonly micros: number
}

let server: Server | undefined

process.once('disconnect', () => process.exit())
process.on('message', ({ configuration, seconds }: CostQuestion) => {
  void (async () => {
    server ??= await openServer(configuration)
    process.send?.({ micros: await costOf(server, seconds * 1000) } satisfies CostAnswer)
  })()
})

async function openServer(configuration: Configuration): Promise<Server> {
  if (configuration === 'sampled-1') registerSdk(0.01)
  if (configuration === 'sampled-100') registerSdk(1)
  const echo = tool('echo', { description: 'Returns a text', run: () => 'text' })
  const extensions = configuration === 'none' ? [] : [telemetry()]
  const opened = createServer({ name: 'bench', version: '1.0.0', tools: [echo], strictReplay: false, extensions })
  const response = JSON.stringify(await opened.exchange(request, createCall()))
  if (!response.includes('"text":"text"')) throw new Error(`no echo: ${response}`)
  return opened
}

/** A reader that never collects metrics. Without a reader, the SDK records nothing. */
class IdleReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

function registerSdk(ratio: number): void {
  const exporter = {
    export: (_spans: unknown, done: (result: { code: 0 }) => void) => done({ code: 0 }),
    shutdown: async () => {},
  }
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) })
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ sampler, spanProcessors: [new BatchSpanProcessor(exporter)] }),
  )
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [new IdleReader()] }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
}

const request: RpcRequest = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'echo',
    arguments: {},
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
}

/** The number of calls per turn of the event loop. The timers of the SDK run between the turns. */
const callsPerTurn = 256

async function costOf({ exchange }: Server, milliseconds: number): Promise<number> {
  const before = process.cpuUsage()
  let calls = 0
  let cpu = 0
  while (cpu < milliseconds * 1000) {
    for (let index = 0; index < callsPerTurn; index++) await exchange(request, createCall())
    calls += callsPerTurn
    await new Promise((resolve) => setImmediate(resolve))
    const { user, system } = process.cpuUsage(before)
    cpu = user + system
  }
  return cpu / calls
}
