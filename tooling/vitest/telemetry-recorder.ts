import { type Attributes, context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'

/** The value of one metric with one set of attributes. */
export interface RecordedPoint {
  readonly name: string
  readonly attributes: Attributes
  /** The sum of a counter, the value of a gauge, or the number of values of a histogram. */
  readonly value: number
}

/** The recorded spans and metrics of a test. */
export interface TelemetryRecorder extends Disposable {
  spans(): readonly ReadableSpan[]
  points(): Promise<readonly RecordedPoint[]>
}

class MemoryReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/** Registers the SDK of OpenTelemetry, with exporters in memory, until the recorder is disposed. */
export function recordTelemetry(sampler?: Sampler): TelemetryRecorder {
  const exporter = new InMemorySpanExporter()
  const reader = new MemoryReader()
  const spanProcessors = [new SimpleSpanProcessor(exporter)]
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors, ...(sampler && { sampler }) }))
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  return {
    spans: () => exporter.getFinishedSpans(),
    points: async () => {
      const { resourceMetrics } = await reader.collect()
      const recorded = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)
      return recorded.flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => ({
          name: descriptor.name,
          attributes,
          value: typeof value === 'number' ? value : 'count' in value ? value.count : 0,
        })),
      )
    },
    [Symbol.dispose]: () => {
      trace.disable()
      metrics.disable()
      context.disable()
    },
  }
}
