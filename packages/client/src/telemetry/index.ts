/**
 * Spans and metrics of a client, with `@opentelemetry/api`.
 *
 * @module @x/client/otel
 */

export { telemetry } from './telemetry.ts'
