import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { createCall } from '@x/exchange'
import type { RpcRequest } from '@x/schema'
import { createServer, tool } from '@x/server'
import { telemetry } from '@x/server/otel'
import { answerQuestions } from './peers/serve-measured.ts'
import { pinning, type Program, type Programs, startProgram, stopAll } from './processes.ts'
import { cpuColumn, type CpuMeasurement, type RatioBenchmark, ratioBenchmark } from './ratios.ts'
import { timeCalls } from './time-calls.ts'

/** The question is a number of seconds. */
type Target = Program<{ readonly seconds: number }, CpuMeasurement> & { readonly name: string }

/** A process for each configuration. */
export const programs: Programs = {
  none: () => serveCalls([]),
  api: () => serveCalls([telemetry()]),
  'sampled-1': () => serveCalls(telemetryWithSdk(0.01)),
  'sampled-100': () => serveCalls(telemetryWithSdk(1)),
}

async function serveCalls(extensions: ReturnType<typeof telemetry>[]): Promise<void> {
  const echo = tool('echo', { description: 'Returns a text', run: () => 'text' })
  const server = createServer({ name: 'bench', version: '1.0.0', tools: [echo], strictReplay: false, extensions })
  const response = JSON.stringify(await server.exchange(request, createCall()))
  if (!response.includes('"text":"text"')) throw new Error(`no echo: ${response}`)
  const call = (): unknown => server.exchange(request, createCall())
  // The timers of the SDK run between the turns of the event loop.
  answerQuestions(({ seconds }: { seconds: number }) => timeCalls(call, seconds, { batch: 256, endsTurn: true }))
}

/** A reader that never collects metrics. Without a reader, the SDK records nothing. */
class IdleReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

function telemetryWithSdk(ratio: number): ReturnType<typeof telemetry>[] {
  const exporter = {
    export: (_spans: unknown, done: (result: { code: 0 }) => void) => done({ code: 0 }),
    shutdown: async () => {},
  }
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) })
  const spanProcessors = [new BatchSpanProcessor(exporter)]
  trace.setGlobalTracerProvider(new BasicTracerProvider({ sampler, spanProcessors }))
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [new IdleReader()] }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  return [telemetry()]
}

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const params = { name: 'echo', arguments: {}, _meta }
const request: RpcRequest = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }

/**
 * Measures the CPU of a `tools/call` in memory with `telemetry()`, of the same call without it: with the API alone, with
 * the SDK and 1 % of the traces sampled, and with all of them.
 *
 * Method: each configuration is a process, because an SDK is registered for the whole process. There is a batch
 * processor whose exporter drops the spans, a reader of metrics that never reads, and the context manager of
 * `AsyncLocalStorage`. The processes take turns on one core, one call at a time. Not measured: exporters, the
 * collection of metrics, steps and rounds. Over HTTP the plain call is larger, and the ratios are smaller.
 */
export const ratios: readonly RatioBenchmark[] = [
  ratioBenchmark({
    targets: Object.keys(programs).map((name) => ({ name, start: () => startConfiguration(name) })),
    passes: [
      {
        title: `tools/call in memory with telemetry; ${pinning}`,
        rows: [
          { id: 'telemetry/api', name: 'api', base: 'none' },
          { id: 'telemetry/1', name: 'sampled-1', base: 'none' },
          { id: 'telemetry/100', name: 'sampled-100', base: 'none' },
        ],
        columns: [cpuColumn],
        measure: ({ ask }, { seconds }) => ask({ seconds }),
      },
    ],
    parts: { round: 4, warmUp: 1 },
    stop: stopAll,
  }),
]

async function startConfiguration(name: string): Promise<Target> {
  return { name, ...(await startProgram(`telemetry/${name}`, { core: 0 })) }
}
