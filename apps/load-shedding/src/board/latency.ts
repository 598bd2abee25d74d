import type { Timing } from './snapshot.ts'

/** A call that came to its end. */
export interface Completion {
  /** Time, in milliseconds. */
  readonly at: number
  /** The latency since the client's first attempt, in milliseconds. */
  readonly latencyMs: number
}

/** The value below which that share of the values lies, by nearest rank; null for no values. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
}

/** The latencies of the calls that ended after `from` and up to `to`. */
export function timingOf(completions: readonly Completion[], from: number, to: number): Timing {
  const latencies = completions.flatMap(({ at, latencyMs }) => (at > from && at <= to ? [latencyMs] : []))
  return {
    perSecond: (latencies.length * 1000) / (to - from),
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
  }
}
