import { defaultBounds, type ParseBounds, type Principal } from '@x/schema'
import { compileCors } from './cors.ts'
import type { CorsOptions, CorsRule } from './cors.ts'
import { compileHosts, loopbackHosts } from './hosts.ts'
import type { HostRule } from './hosts.ts'
import { compileOrigins } from './origins.ts'
import type { OriginRule } from './origins.ts'
import type { HttpRefusal } from './refusal.ts'
import type { RequestView } from './request-view.ts'

/** Runs a function once after so many milliseconds; the function that it returns calls that off. */
export type Schedule = (run: () => void, ms: number) => () => void

/** What {@link HandlerOptions.principal} may answer: who asks, nobody in particular, or a refusal such as 401. */
export type Identity = Principal | HttpRefusal | undefined

/** How a server half of the transport behaves. Every default is safe on a machine that browsers share. */
export interface HandlerOptions<Source> {
  /**
   * The hosts that are served, against DNS rebinding: `example.com` on every port, `example.com:8443` on one. The
   * default is the loopback names. `'*'` leaves the check to a proxy in front.
   */
  readonly allowedHosts?: readonly string[] | '*' | undefined
  /**
   * The origins whose pages may call, such as `https://app.example.com`. The default is the called host's own, and
   * loopback pages for a loopback host. Requests without an `Origin` come from no page and are served.
   */
  readonly allowedOrigins?: readonly string[] | '*' | undefined
  /** Answers browsers' CORS questions for the allowed origins. Off by default: no CORS header is ever sent. */
  readonly cors?: boolean | CorsOptions | undefined
  /** Bounds of a body; `bytes` (4 MiB) holds while it is being read. */
  readonly bounds?: Partial<ParseBounds> | undefined
  /**
   * How long a call may take in milliseconds, 5 minutes by default; 0 is no limit. Past it `call.signal` aborts and the
   * peer gets status 504 with an internal error, or that error on its stream. Calls that stream by nature
   * (`subscriptions/listen`) have no limit.
   */
  readonly timeoutMs?: number | undefined
  /**
   * After how many quiet milliseconds a comment keeps the stream open, 15 seconds by default; 0 is never. A call that
   * has not answered by then becomes a stream, so that no proxy takes it for dead.
   */
  readonly keepAliveMs?: number | undefined
  /**
   * How many bytes may wait for a slow reader, 1 MiB by default. Beyond it a call's notifications are dropped, its
   * response never; a call that streams by nature is broken off instead, since nobody could tell what was lost.
   */
  readonly maxQueuedBytes?: number | undefined
  /** Says who asks, or refuses; runs before the body is read. What it throws is answered as any error is. */
  readonly principal?: ((request: RequestView<Source>) => Identity | Promise<Identity>) | undefined
  /** Hears of failures whose cause the peer must not see; by default nobody does. */
  readonly onError?: ((error: unknown, request: RequestView<Source>) => void) | undefined
  /** The clock; the platform's own by default. */
  readonly schedule?: Schedule | undefined
}

/** The options of a handler, worked out once. */
export interface Settings<Source> {
  readonly hosts: HostRule
  readonly origins: OriginRule
  readonly cors: CorsRule | undefined
  readonly bounds: ParseBounds
  readonly timeoutMs: number
  readonly keepAliveMs: number
  readonly maxQueuedBytes: number
  readonly principal: HandlerOptions<Source>['principal']
  readonly onError: (error: unknown, request: RequestView<Source>) => void
  readonly schedule: Schedule
}

const fiveMinutes = 300_000
const fifteenSeconds = 15_000
const oneMebibyte = 1_048_576

/**
 * Works options out, so that a request pays for none of it. `schedule` is the clock when the options give none.
 *
 * @throws TypeError for a host or origin that is malformed.
 * @throws RangeError for a number that is negative or not a number.
 */
export function compileSettings<Source>(
  options: HandlerOptions<Source>,
  schedule: Schedule = platformSchedule,
): Settings<Source> {
  return {
    hosts: compileHosts(options.allowedHosts ?? loopbackHosts),
    origins: compileOrigins(options.allowedOrigins),
    cors: compileCors(options.cors),
    bounds: { ...defaultBounds, ...options.bounds },
    timeoutMs: limit('timeoutMs', options.timeoutMs, fiveMinutes),
    keepAliveMs: limit('keepAliveMs', options.keepAliveMs, fifteenSeconds),
    maxQueuedBytes: amount('maxQueuedBytes', options.maxQueuedBytes ?? oneMebibyte),
    principal: options.principal,
    onError: options.onError ?? ignore,
    schedule: options.schedule ?? schedule,
  }
}

function ignore(): void {}

/** The platform's own timers. */
export function platformSchedule(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

function amount(name: string, value: number): number {
  if (value >= 0) return value
  throw new RangeError(`${name} is ${value}: give a number from 0 up`)
}

function limit(name: string, value: number | undefined, preset: number): number {
  return amount(name, value ?? preset) || Number.POSITIVE_INFINITY
}
