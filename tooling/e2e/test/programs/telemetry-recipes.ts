import { inspect } from 'node:util'
import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { createServer, type Log, type McpServer, type ServerDefinition } from '@x/server'
import { callLog } from '@x/server/log'
import { telemetry } from '@x/server/otel'
import type { Logger } from 'pino'

// #region metrics
/** Serves the metrics of this process to Prometheus. The port has no login: block it for other networks. */
export function servePrometheus(port: number): PrometheusExporter {
  const exporter = new PrometheusExporter({ port })
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }))
  return exporter
}
// #endregion

// #region otlp
/** Sends the spans and metrics of this process to a Collector, such as `http://localhost:4318`. Returns a function that stops both. */
export function exportOtlp(url: string): () => Promise<void> {
  const spans = new BasicTracerProvider({
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${url}/v1/traces` }))],
  })
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: `${url}/v1/metrics` }),
    exportIntervalMillis: 60_000,
  })
  const meters = new MeterProvider({ readers: [reader] })
  trace.setGlobalTracerProvider(spans)
  metrics.setGlobalMeterProvider(meters)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  // Await this before the process exits: it sends the last spans and metrics.
  return async () => void (await Promise.all([spans.shutdown(), meters.shutdown()]))
}
// #endregion

// #region log
/** A server that records spans and metrics, and logs errors and failed calls with pino. */
export function createObservedServer(definition: ServerDefinition, logger: Logger): McpServer {
  return createServer({
    ...definition,
    log: ({ level, message, ...record }) => logger[level](record, message),
    extensions: [
      telemetry(),
      callLog({ log: ({ level, message, ...record }) => logger[level](record, message) }),
      ...(definition.extensions ?? []),
    ],
  })
}
// #endregion

// #region lines
/** Writes each record as a line of JSON, for `createServer` and `callLog`. */
export const writeLine: Log = ({ err, ...record }) => {
  if (record.level === 'debug') return
  const error = err instanceof Error ? { err: inspect(err) } : { err }
  console.error(JSON.stringify({ time: new Date().toISOString(), ...record, ...error }))
}
// #endregion
