import { metrics } from '@opentelemetry/api'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { createServer, type McpServer, type ServerDefinition } from '@x/server'
import { callLog } from '@x/server/log'
import { telemetry } from '@x/server/otel'
import type { Logger } from 'pino'

// #region metrics
/** Serves the metrics of this process to Prometheus. Block the port for other networks, because it has no login. */
export function servePrometheus(port: number): PrometheusExporter {
  const exporter = new PrometheusExporter({ port })
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }))
  return exporter
}
// #endregion

// #region log
/** Creates a server that is measured, and that logs errors and failed calls with pino. */
export function createObservedServer(definition: ServerDefinition, logger: Logger): McpServer {
  return createServer({
    ...definition,
    log: ({ level, message, ...record }) => logger[level](record, message),
    extensions: [telemetry(), callLog({ log: ({ level, message, ...record }) => logger[level](record, message) })],
  })
}
// #endregion
