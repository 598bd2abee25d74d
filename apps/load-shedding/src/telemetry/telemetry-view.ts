import * as z from 'zod'

const time = z.number().min(0)

/** A span on the page. */
export const spanView = z.object({
  traceId: z.string().max(32),
  spanId: z.string().max(16),
  parentId: z.string().max(16).optional(),
  name: z.string().max(200),
  kind: z.enum(['client', 'server', 'internal']),
  /** Milliseconds since the Unix epoch. */
  startedAt: time,
  durationMs: time,
  hasFailed: z.boolean(),
})

/** The value of a metric with one set of attributes. */
export const metricView = z.object({
  name: z.string().max(200),
  /** The attributes as text, such as `gen_ai.tool.name=count_primes`. */
  attributes: z.string().max(1000),
  /** The value of a counter, or the number of values of a histogram. */
  count: z.number(),
  /** The sum of the values of a histogram. Absent for a counter. */
  sum: z.number().optional(),
})

export type SpanView = z.infer<typeof spanView>
export type MetricView = z.infer<typeof metricView>

/** A span with the process that recorded it: 0 for the client, and otherwise the number of the instance. */
export interface ProcessSpan extends SpanView {
  readonly process: number
}

/** The spans of one call, and the metrics of all instances. */
export interface TelemetryView {
  /** The spans of the shown trace in the order of their start. Empty before the first sampled call. */
  readonly spans: readonly ProcessSpan[]
  readonly metrics: readonly MetricView[]
}
