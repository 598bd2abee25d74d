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
import { answerQuestions, pinning, type Program, type Programs, startProgram } from './processes.ts'
import {
  compareTargets,
  cpuColumn,
  type CpuMeasurement,
  type RatioBenchmark,
  runBenchmarks,
  selectRows,
  selectTargets,
} from './ratios.ts'

const base = 'none'
const rows = [
  { id: 'telemetry/api', name: 'api', base },
  { id: 'telemetry/1', name: 'sampled-1', base },
  { id: 'telemetry/100', name: 'sampled-100', base },
] as const

interface Question {
  readonly seconds: number
}

type Target = Program<Question, CpuMeasurement> & { readonly name: string }

/**
 * Measures the CPU of a `tools/call` in memory with `telemetry()`, of the same call without it: with the API alone, with
 * the SDK and 1 % of the traces sampled, and with all of them.
 *
 * Method: each configuration is a process, because an SDK is registered for the whole process. There is a batch
 * processor whose exporter drops the spans, a reader of metrics that never reads, and the context manager of
 * `AsyncLocalStorage`. The processes take turns on one core, one call at a time. Not measured: exporters, the
 * collection of metrics, steps and rounds. Over HTTP the plain call is larger, and the ratios are smaller.
 */
export const telemetryBenchmark: RatioBenchmark = {
  ids: rows.map(({ id }) => id),
  async measure({ timing, ...options }) {
    const named = [base, ...rows.map(({ name }) => name)].map((name) => ({ name }))
    const targets: Target[] = []
    try {
      for (const { name } of selectTargets(named, selectRows(rows, options), options))
        targets.push({ name, ...(await startProgram<Question, CpuMeasurement>(`telemetry/${name}`, 0)) })
      for (const { ask } of targets) await ask({ seconds: timing.warmUp })
      // One call takes microseconds. Many short rounds lose less to a busy period of the machine than a few long ones.
      const short = { ...timing, rounds: timing.rounds * 3, seconds: timing.seconds / 4 }
      const measure = ({ ask }: Target, seconds: number): Promise<CpuMeasurement> => ask({ seconds })
      const comparison = { title: `tools/call in memory with telemetry; ${pinning}`, targets, rows, base, measure }
      return await compareTargets({ ...comparison, columns: [cpuColumn] }, { ...options, timing: short })
    } finally {
      for (const target of targets) await target.stop()
    }
  },
}

/** Runs the benchmark and prints its report. */
export function run(options: { readonly quick: boolean }): Promise<void> {
  return runBenchmarks([telemetryBenchmark], options)
}

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
  answerQuestions(({ seconds }: Question) => costOf(server, seconds))
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

/** The number of calls per turn of the event loop. The timers of the SDK run between the turns. */
const callsPerTurn = 256

async function costOf({ exchange }: Server, seconds: number): Promise<CpuMeasurement> {
  const before = process.cpuUsage()
  let calls = 0
  let cpu = 0
  while (cpu < seconds * 1e6) {
    for (let index = 0; index < callsPerTurn; index++) await exchange(request, createCall())
    calls += callsPerTurn
    await new Promise((resolve) => setImmediate(resolve))
    const { user, system } = process.cpuUsage(before)
    cpu = user + system
  }
  return { cpu: cpu / calls }
}
