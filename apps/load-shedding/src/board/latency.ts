import type { Timing } from './snapshot.ts'

/** A completed call. */
export interface Completion {
  /** The time of completion, in milliseconds. */
  readonly at: number
  /** The latency since the client's first attempt, in milliseconds. */
  readonly latencyMs: number
}

/** Returns a quantile by the nearest-rank method; null if there are no values. `share` is from 0 to 1. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
}

/** Returns the latency quantiles of the calls that completed after `from` and up to `to`. */
export function timingOf(completions: readonly Completion[], from: number, to: number): Timing {
  const latencies = completions.flatMap(({ at, latencyMs }) => (at > from && at <= to ? [latencyMs] : []))
  return {
    perSecond: (latencies.length * 1000) / (to - from),
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
  }
}
