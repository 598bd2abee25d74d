import { type Attributes, context, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { type DataPoint, type Histogram, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, type ReadableSpan, type Sampler } from '@opentelemetry/sdk-trace-base'
import type { MetricView, SpanView } from './telemetry-view.ts'

/** Receives the telemetry of this process. */
export interface TelemetryListener {
  onSpan(span: SpanView): void
  onMetrics(metrics: readonly MetricView[]): void
}

const metricsIntervalMs = 1000

class OnDemandMetricReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/** Registers the OpenTelemetry SDK in this process until the result is disposed. It exports only to `listener`. */
export function recordTelemetry(sampler: Sampler, listener: TelemetryListener): Disposable {
  const reader = new OnDemandMetricReader()
  const processor = {
    onStart: () => {},
    onEnd: (span: ReadableSpan) => listener.onSpan(toSpanView(span)),
    forceFlush: async () => {},
    shutdown: async () => {},
  }
  trace.setGlobalTracerProvider(new BasicTracerProvider({ sampler, spanProcessors: [processor] }))
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const timer = setInterval(
    () => void readMetrics(reader).then((views) => listener.onMetrics(views)),
    metricsIntervalMs,
  )
  timer.unref()
  return {
    [Symbol.dispose]: () => {
      clearInterval(timer)
      trace.disable()
      metrics.disable()
      context.disable()
    },
  }
}

async function readMetrics(reader: MetricReader): Promise<readonly MetricView[]> {
  const { resourceMetrics } = await reader.collect()
  return resourceMetrics.scopeMetrics.flatMap((scope) =>
    scope.metrics.flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map((point: DataPoint<unknown>) => toMetricView(descriptor.name, point)),
    ),
  )
}

function toMetricView(name: string, { attributes, value }: DataPoint<unknown>): MetricView {
  const text = formatAttributes(attributes)
  if (typeof value === 'number') return { name, attributes: text, count: value }
  // The packages create only counters and histograms, so any other value is a histogram.
  const { count, sum = 0 } = value as Histogram
  return { name, attributes: text, count, sum }
}

function formatAttributes(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ')
}

function toSpanView(span: ReadableSpan): SpanView {
  const { name, kind, parentSpanContext, startTime, duration, status } = span
  const { traceId, spanId } = span.spanContext()
  return {
    traceId,
    spanId,
    ...(parentSpanContext !== undefined && { parentId: parentSpanContext.spanId }),
    name,
    kind: kind === SpanKind.CLIENT ? 'client' : kind === SpanKind.SERVER ? 'server' : 'internal',
    startedAt: toMs(startTime),
    durationMs: toMs(duration),
    hasFailed: status.code === SpanStatusCode.ERROR,
  }
}

function toMs([seconds, nanoseconds]: readonly [number, number]): number {
  return seconds * 1000 + nanoseconds / 1e6
}
