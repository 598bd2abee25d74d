/**
 * Spans and metrics of a server, with `@opentelemetry/api`.
 *
 * @module @x/server/otel
 */

export { observeTasks, type TaskCounter, type TaskCountView } from './telemetry/observe-tasks.ts'
export { telemetry, type TelemetryOptions } from './telemetry/telemetry.ts'
