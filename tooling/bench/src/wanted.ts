/** The wanted value of a ratio, with the description of the ratio. */
export interface Wanted {
  readonly what: string
  /** The smallest wanted ratio to the floor. A ratio of which less is better has `atMost` instead. */
  readonly atLeast?: number
  readonly atMost?: number
}

/** Every ratio with a wanted value, which the reports print. */
export const wanted = {
  'http/1': { what: '`tools/call` over `node:http`, 1 connection', atLeast: 0.9 },
  'http/16': { what: '`tools/call` over `node:http`, 16 connections', atLeast: 0.9 },
  'http/64': { what: '`tools/call` over `node:http`, 64 connections', atLeast: 0.9 },
  'http/256': { what: '`tools/call` over `node:http`, 256 connections', atLeast: 0.8 },
  'http/by-hand': { what: 'CPU of `tools/call`, of a hand-written server, 16 connections', atMost: 1.2 },
  'http/tail': { what: 'p99 of the median over `node:http`, 64 connections', atMost: 1.3 },
  'http/500-tools': { what: '`tools/call` with 500 tools, of that with one', atLeast: 0.95 },
  'fetch/1': { what: '`tools/call` by the fetch handler, 1 connection', atLeast: 0.8 },
  'fetch/16': { what: '`tools/call` by the fetch handler, 16 connections', atLeast: 0.8 },
  'fetch/64': { what: '`tools/call` by the fetch handler, 64 connections', atLeast: 0.8 },
  'list/1': { what: '`tools/list` with 500 tools, 1 connection', atLeast: 0.85 },
  'list/16': { what: '`tools/list` with 500 tools, 16 connections', atLeast: 0.85 },
  'rounds/16': { what: 'a call that asks twice, 16 connections, POSTs', atLeast: 0.66 },
  'rounds/16-inline': { what: 'the same with schemas built in each run, POSTs', atLeast: 0.38 },
  'rounds/by-hand': { what: 'CPU of a call that asks twice, of a hand-written server, POSTs', atMost: 1.5 },
  'rounds/inline-by-hand': { what: 'the same with schemas built in each run, POSTs', atMost: 2.2 },
  'codec/200': { what: 'seal and open 200 B of state', atLeast: 0.85 },
  'codec/2000': { what: 'seal and open 2 KB of state', atLeast: 0.85 },
  'codec/32768': { what: 'seal and open what fits a token of 32 KiB', atLeast: 0.85 },
  'stdio/64': { what: '`tools/call` over stdio, 64 in flight', atLeast: 0.45 },
  'stdio/p50': { what: 'p50 over stdio, one at a time', atMost: 1.5 },
  'client/1': { what: 'calls by the client, 1 in flight', atLeast: 0.7 },
  'client/16': { what: 'calls by the client, 16 in flight', atLeast: 0.7 },
  'stream/1': { what: '1,000 notifications of progress in a call, 1 connection', atLeast: 0.6 },
  'stream/16': { what: '1,000 notifications of progress in a call, 16 connections', atLeast: 0.6 },
  'telemetry/api': { what: 'CPU of a call with telemetry and without an SDK, of a plain call in memory', atMost: 2 },
  'telemetry/1': { what: 'the same with the SDK and 1 % sampled', atMost: 6 },
  'telemetry/100': { what: 'the same with the SDK and all sampled', atMost: 8 },
  'hop/cpu': { what: 'CPU of a call through a proxy, 16 connections', atMost: 1.5 },
  'hop/progress': { what: '1,000 notifications of progress through a proxy, 1 connection', atLeast: 0.7 },
  'hop/read-progress': { what: 'the same, of a bare proxy that parses and writes each message', atLeast: 0.7 },
  'gateway/cpu': { what: 'CPU of a call through a gateway with two upstreams, 16 connections', atMost: 1.6 },
  'workload/2025-06-18': {
    what: 'CPU of a call in a session of its own, with Redis and HTTP behind it',
    atMost: 1.14,
  },
  'workload/2026-07-28': { what: 'the same call without a session', atMost: 1.2 },
  'sessions/read': { what: 'a call in a session that is read, of a plain call in memory', atMost: 3 },
} as const satisfies Readonly<Record<string, Wanted>>

/** The name of a ratio: the benchmark and its variant. */
export type RatioId = keyof typeof wanted

/** A measured ratio, with the formatted figures of our program and of the floor. */
export interface Reading {
  readonly id: RatioId
  readonly value: number
  readonly ours: string
  readonly floor: string
  /** The ratio of their CPU in the same rounds. */
  readonly cpu?: number
  /** The ratio of the official SDK to the same floor, if it was measured. */
  readonly peer?: number | undefined
}

/** Returns true if a ratio reaches its wanted value. */
export function isReached({ id, value }: Reading): boolean {
  const { atLeast, atMost }: Wanted = wanted[id]
  return atMost === undefined ? value >= (atLeast ?? 0) : value <= atMost
}

/** Formats the wanted value of a ratio. */
export function wantedText(id: RatioId): string {
  const { atLeast, atMost }: Wanted = wanted[id]
  return atMost === undefined ? `>= ${(atLeast ?? 0).toFixed(2)}` : `<= ${atMost.toFixed(2)}`
}

/** Formats a line with a ratio, its wanted value, and the result of their comparison. */
export function readingLine(reading: Reading): string {
  const columns = [
    reading.id.padEnd(16),
    `${reading.value.toFixed(2)} x the floor`.padStart(18),
    `wanted ${wantedText(reading.id)}`,
    isReached(reading) ? 'reached' : 'NOT REACHED',
  ]
  return columns.join('  ')
}
