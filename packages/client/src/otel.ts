/**
 * Spans and metrics of a client, with `@opentelemetry/api` alone.
 *
 * @module @x/client/otel
 */

export { telemetry } from './telemetry/telemetry.ts'
