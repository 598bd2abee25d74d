import {
  checkOptions,
  type ErrorListener,
  errorListener,
  type KnownOptions,
  type Ledger,
  platformRuntime,
} from '@x/core'
import {
  defaultBounds,
  type HttpErrorHead,
  type HttpProtocolAdapter,
  type ParseBounds,
  type Principal,
  protocolVersion,
  type Server,
  type WireError,
} from '@x/schema'
import { compileCors, type CorsOptions, type CorsRule } from './cors.ts'
import { type CompiledDocuments, compileDocuments, type HttpDocuments } from './documents.ts'
import { compileHosts, type HostRule, isLoopback, loopbackHosts, parseHost } from './hosts.ts'
import { compileOrigins, type OriginRule } from './origins.ts'
import type { HttpErrorResponse, RequestView } from './http-adapter.ts'

const maxReportsPerMinute = 100
const minuteMs = 60_000

/** Reports the reason for which a request was rejected. */
type ReportRejection<Source> = (reason: string, request: RequestView<Source>) => void

/**
 * Returns a report that passes each reason on once a minute, and at most 100 reasons. Any page can make a browser send
 * such requests without end, and the log of the server must not grow with them. A report states the number of those
 * omitted before it.
 */
export function createReportLimiter<Source>(
  onError: (error: unknown, request: RequestView<Source>) => void,
  now: () => number = platformRuntime.monotonicNow,
): ReportRejection<Source> {
  const reportedReasons = new Set<string>()
  let windowStartedAt = Number.NEGATIVE_INFINITY
  let omittedReportCount = 0
  return (reason, request) => {
    const time = now()
    if (time - windowStartedAt >= minuteMs) {
      windowStartedAt = time
      reportedReasons.clear()
    }
    if (reportedReasons.has(reason) || reportedReasons.size >= maxReportsPerMinute) {
      omittedReportCount++
      return
    }
    reportedReasons.add(reason)
    const omittedReportsText = omittedReportCount === 0 ? '' : ` (reports omitted before: ${omittedReportCount})`
    omittedReportCount = 0
    onError(new Error(`${reason}${omittedReportsText}`), request)
  }
}

/** Runs a function once after a delay in milliseconds. Returns a function that cancels it. */
export type Schedule = (run: () => void, ms: number) => () => void

/** Results of {@link HandlerOptions.authenticate}: a principal, undefined for anonymous, or a rejection such as 401. */
export type AuthenticationResult = Principal | HttpErrorResponse | undefined

/** The parts of the server that authentication of one request may use. */
export interface AuthenticationContext {
  readonly ledger: Ledger
  /** The key by which the ledger counts the address of the client. */
  readonly callerKey: string
  /** Reports an error of the request. */
  report(error: unknown): void
}

/** Authenticates requests. */
export interface AuthenticateFunction<Source> {
  (request: RequestView<Source>, context: AuthenticationContext): AuthenticationResult | Promise<AuthenticationResult>
  /** Rejects while no request can be authenticated. `/readyz` is 503 meanwhile. */
  readonly ready?: (() => Promise<void>) | undefined
}

/** The options of the server half of the transport. Every default is safe on a machine that browsers share. */
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
  /** Bounds of a body. `bytes` (4 MiB) holds while it is being read. */
  readonly bounds?: Partial<ParseBounds> | undefined
  /**
   * Milliseconds that a call may take, 5 minutes by default. 0 is no limit. Past it `call.signal` aborts and the
   * peer gets status 504 with an internal error, or that error on its stream. Calls that stream by nature
   * (`subscriptions/listen`) have no limit.
   */
  readonly timeoutMs?: number | undefined
  /**
   * Milliseconds without output after which a comment keeps the stream open. 0 is never. The default is 15 seconds on
   * `node:http`, and 5 seconds for web requests, because Bun closes connections that are quiet for 10 seconds. A call
   * without a response by then becomes a stream.
   */
  readonly keepAliveMs?: number | undefined
  /**
   * Bytes that may wait for a slow reader. Default 1 MiB. Beyond it a call's notifications are dropped, its response
   * never. A streaming call (`subscriptions/listen`) is aborted instead, because its client could not detect the loss.
   */
  readonly maxQueuedBytes?: number | undefined
  /**
   * Returns the principal of a request, undefined for an anonymous one, or the HTTP answer that rejects it. Runs before
   * the body is read. An error that it throws is answered as any other.
   */
  readonly authenticate?: AuthenticateFunction<Source> | undefined
  /**
   * Returns the address of the client, by which callers without a principal share quotas. Default: the socket's on
   * Node. Elsewhere there is none, and all anonymous callers share one. Behind a proxy, return the address that the
   * proxy reports, because the proxy's own is the same for all clients.
   */
  readonly clientAddress?: ((request: RequestView<Source>) => string | undefined) | undefined
  /**
   * Documents that are served to a GET beside the endpoint, by path, to every client, origin and `Host`.
   * `documentHandler` serves them behind a framework that passes this handler the endpoint's path alone.
   */
  readonly documents?: HttpDocuments | undefined
  /**
   * Returns the HTTP status and headers of an exchange's error, such as 403 with a `WWW-Authenticate` for a scope that
   * is missing. The body stays the JSON-RPC error. Not called for an answer that is a stream, whose head was sent.
   */
  readonly toHttpError?: ((error: WireError) => HttpErrorHead | undefined) | undefined
  /**
   * Receives the failures whose cause the peer must not see, and the `Host` or `Origin` of a request that was rejected
   * for it: each value once a minute, at most 100 of them. A line of `console.error` when absent, `false` for none.
   */
  readonly onError?: ErrorListener<[error: unknown, request: RequestView<Source>]>
  /** The clock. Default: the platform's own. */
  readonly schedule?: Schedule | undefined
}

/** The names of the options of a handler. */
const knownHandlerOptions = {
  allowedHosts: true,
  allowedOrigins: true,
  cors: true,
  bounds: true,
  timeoutMs: true,
  keepAliveMs: true,
  maxQueuedBytes: true,
  authenticate: true,
  clientAddress: true,
  documents: true,
  toHttpError: true,
  onError: true,
  schedule: true,
} as const satisfies Record<keyof HandlerOptions<never>, true>

/** Throws a TypeError for an option that does not exist. `moreOptions` are the names beside those of a handler. */
export function checkHandlerOptions(options: object, where: string, moreOptions: KnownOptions = {}): void {
  checkOptions(options, { ...knownHandlerOptions, ...moreOptions }, where)
}

/** The compiled options of a handler. */
export interface HandlerSettings<Source> {
  readonly hosts: HostRule
  readonly origins: OriginRule
  readonly cors: CorsRule | undefined
  readonly bounds: ParseBounds
  readonly timeoutMs: number
  readonly keepAliveMs: number
  readonly maxQueuedBytes: number
  readonly authenticate: HandlerOptions<Source>['authenticate']
  readonly clientAddress: HandlerOptions<Source>['clientAddress']
  readonly documents: CompiledDocuments | undefined
  /** The revisions that are served, newest first. */
  readonly supportedVersions: readonly string[]
  readonly toHttpError: HandlerOptions<Source>['toHttpError']
  readonly onError: (error: unknown, request: RequestView<Source>) => void
  readonly reportRejection: ReportRejection<Source>
  readonly schedule: Schedule
}

const defaultTimeoutMs = 300_000
const defaultKeepAliveMs = 15_000
const oneMebibyte = 1_048_576

/**
 * Compiles options once, before any request. `schedule` is the clock when the options give none.
 *
 * @throws TypeError for a host, an origin or a document's path that is malformed, and for cookies from every origin.
 * @throws RangeError for a number that is negative or not a number.
 */
export function compileSettings<Source>(
  options: HandlerOptions<Source>,
  schedule: Schedule = setPlatformTimer,
  adapter?: HttpProtocolAdapter,
): HandlerSettings<Source> {
  const describeRequest = (_: unknown, { method, url }: RequestView<Source>): string => `${method} ${pathOf(url)}`
  const onError = errorListener(options.onError, '@x/transport-http', describeRequest)
  return {
    hosts: compileHosts(options.allowedHosts ?? loopbackHosts),
    origins: compileOrigins(options.allowedOrigins),
    cors: compileCors(checkCors(options), adapter),
    bounds: { ...defaultBounds, ...options.bounds },
    timeoutMs: checkLimit('timeoutMs', options.timeoutMs, defaultTimeoutMs),
    keepAliveMs: checkLimit('keepAliveMs', options.keepAliveMs, defaultKeepAliveMs),
    maxQueuedBytes: checkAmount('maxQueuedBytes', options.maxQueuedBytes ?? oneMebibyte),
    authenticate: options.authenticate,
    clientAddress: options.clientAddress,
    documents: compileDocuments(options.documents),
    supportedVersions: [protocolVersion, ...(adapter?.revisions ?? [])],
    toHttpError: options.toHttpError,
    onError,
    reportRejection: createReportLimiter(onError),
    schedule: options.schedule ?? schedule,
  }
}

/** A query may hold secrets. */
function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

/** Any page could read what a user may see, if every origin may send the user's cookies. */
function checkCors<Source>({ cors, allowedOrigins }: HandlerOptions<Source>): boolean | CorsOptions | undefined {
  if (allowedOrigins !== '*' || typeof cors !== 'object' || cors.credentials !== true) return cors
  throw new TypeError("cors.credentials with allowedOrigins '*' lets every page act as its user: list the origins")
}

/** The platform's own timers. */
export function setPlatformTimer(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

function checkAmount(name: string, value: number): number {
  if (value >= 0) return value
  throw new RangeError(`${name} is ${value}: give a number from 0 up`)
}

function checkLimit(name: string, value: number | undefined, defaultValue: number): number {
  return checkAmount(name, value ?? defaultValue) || Number.POSITIVE_INFINITY
}

/**
 * Rejects options that would let other machines reach a server that is for this machine alone, or one whose calls need
 * a principal without `authenticate`.
 *
 * @throws TypeError that names the option to give.
 */
export function checkExposure(
  { localOnly, needsPrincipal }: Server,
  { allowedHosts = [], authenticate }: Pick<HandlerOptions<never>, 'allowedHosts' | 'authenticate'>,
): void {
  const reason = localOnly ?? (needsPrincipal && authenticate === undefined ? unauthenticatedReason : undefined)
  if (reason === undefined) return
  const isPublic = allowedHosts === '*' || !allowedHosts.every((host) => isLoopback(parseHost(host)?.name ?? host))
  if (isPublic) throw new TypeError(`allowedHosts lets other machines call, but ${reason}`)
}

/** The reason why such a server stays on this machine. */
export const unauthenticatedReason =
  'an extension of the server decides by the principal: give authenticate, which returns the principal of each request'
