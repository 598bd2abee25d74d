import { checkedNumber, checkOptions, errorRecord, type KnownOptions, type LogContext, platformRuntime } from '@x/core'
import { defaultBounds, type ParseBounds, protocolVersion, type Server } from '@x/schema'
import { type AuthenticateFunction, compileAuth, type HttpAuth } from './auth.ts'
import { compileCors, type CorsRule } from './cors.ts'
import { type CompiledDocuments, compileDocuments } from './documents.ts'
import { compileHosts, type HostRule, isLoopback, loopbackHosts, parseHost } from './hosts.ts'
import { compileOrigins, type OriginRule } from './origins.ts'
import type { RequestView } from './http-adapter.ts'

const maxReportsPerMinute = 100
const minuteMs = 60_000

/** Reports the reason of a rejected request. */
type ReportRejection<Source> = (reason: string, request: RequestView<Source>) => void

/**
 * Returns a report that passes each reason on once a minute, and at most 100 reasons. Any page can make a browser send
 * such requests without end, and the log of the server must not grow with them. A report states the number of those
 * omitted before it.
 */
export function createReportLimiter<Source>(
  report: (message: string, request: RequestView<Source>) => void,
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
    report(`${reason}${omittedReportsText}`, request)
  }
}

/** Runs a function once after a delay in milliseconds. Returns a function that cancels it. */
export type Schedule = (run: () => void, ms: number) => () => void

/** The options of the server half of the transport. Every default is safe on a machine that browsers share. */
export interface HandlerOptions<Source> {
  /**
   * The hosts that are served, against DNS rebinding: `example.com` on every port, `example.com:8443` on one. The
   * default is the loopback names. `'*'` leaves the check to a proxy in front.
   */
  readonly allowedHosts?: readonly string[] | '*' | undefined
  /**
   * The origins whose pages may call, such as `https://app.example.com`, or `'*'` for all. Answers to these pages have
   * CORS headers, and no page may send cookies. By default no answer has a CORS header, and a request with an `Origin`
   * is served when the origin is the called host, or when both are loopback. A request without an `Origin` comes from
   * no page and is served.
   */
  readonly allowedOrigins?: readonly string[] | '*' | undefined
  /** The bytes that the body of a request may have. Default 4 MiB. Beyond it the request is rejected with 413. */
  readonly maxBodyBytes?: number | undefined
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
   * The protection of the endpoint: what `protect` of `@x/auth/server` returns, or a function from a request to its
   * principal. The function returns undefined for an anonymous caller, and an HTTP answer to reject the request.
   */
  readonly auth?: AuthenticateFunction<Source> | HttpAuth<Source> | undefined
  /**
   * Returns the address of the client, by which callers without a principal share quotas. Default: the socket's on
   * Node. Elsewhere there is none, and all anonymous callers share one. Behind a proxy, return the address that the
   * proxy reports, because the proxy's own is the same for all clients.
   */
  readonly clientAddress?: ((request: RequestView<Source>) => string | undefined) | undefined
}

/** Values that the tests of this package replace. They are no options, because no server needs other values. */
export interface HandlerInternals {
  /** The timers. Default: those of the platform. */
  readonly schedule?: Schedule | undefined
  readonly maxQueuedBytes?: number | undefined
}

const knownHandlerOptions = {
  allowedHosts: true,
  allowedOrigins: true,
  maxBodyBytes: true,
  timeoutMs: true,
  keepAliveMs: true,
  auth: true,
  clientAddress: true,
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
  readonly authenticate: HttpAuth<Source>['authenticate'] | undefined
  readonly clientAddress: HandlerOptions<Source>['clientAddress']
  readonly documents: CompiledDocuments | undefined
  /** The revisions that are served, newest first. */
  readonly supportedVersions: readonly string[]
  readonly toHttpError: HttpAuth<Source>['toHttpError']
  readonly authReady: HttpAuth<Source>['ready']
  readonly onError: (error: unknown, request: RequestView<Source>) => void
  readonly reportRejection: ReportRejection<Source>
  readonly schedule: Schedule
}

const defaults = {
  allowedHosts: loopbackHosts,
  maxBodyBytes: defaultBounds.bytes,
  timeoutMs: 300_000,
  keepAliveMs: 15_000,
} satisfies Partial<HandlerOptions<never>>

/**
 * Bytes that may wait for a slow reader: about 1,000 notifications of a kilobyte. Beyond them the notifications of a
 * call are dropped, and never its response. A streaming call (`subscriptions/listen`) is aborted instead, because its
 * client could not detect the loss.
 */
const maxQueuedBytes = 1_048_576

/** The parts of a handler that its options do not have. */
interface HandlerParts {
  /** The timers of the platform. */
  readonly schedule: Schedule
  readonly server: Pick<Server, 'adapters' | 'log'>
  readonly internals: HandlerInternals
}

/**
 * Compiles options once, before any request.
 *
 * @throws TypeError for a malformed host, origin or path of a document, and for an `auth` without `authenticate`.
 * @throws RangeError for a number that is negative or not a number.
 */
export function compileSettings<Source>(
  options: HandlerOptions<Source>,
  { schedule, server, internals }: HandlerParts,
): HandlerSettings<Source> {
  const { log } = server
  const adapter = server.adapters.http
  const onError = (err: unknown, view: RequestView<Source>): void => log(errorRecord(err, describeRequest(view)))
  const warn = (message: string, view: RequestView<Source>): void =>
    log({ ...describeRequest(view), level: 'warning', code: 'rejected', message })
  const { authenticate, documents, toHttpError, ready } = compileAuth(options.auth)
  return {
    hosts: compileHosts(options.allowedHosts ?? defaults.allowedHosts),
    origins: compileOrigins(options.allowedOrigins),
    cors: options.allowedOrigins === undefined ? undefined : compileCors(adapter),
    bounds: {
      ...defaultBounds,
      bytes: checkedNumber('maxBodyBytes', options.maxBodyBytes ?? defaults.maxBodyBytes, fromZero),
    },
    timeoutMs: checkLimit('timeoutMs', options.timeoutMs, defaults.timeoutMs),
    keepAliveMs: checkLimit('keepAliveMs', options.keepAliveMs, defaults.keepAliveMs),
    maxQueuedBytes: internals.maxQueuedBytes ?? maxQueuedBytes,
    authenticate,
    clientAddress: options.clientAddress,
    documents: compileDocuments(documents),
    supportedVersions: [protocolVersion, ...(adapter?.revisions ?? [])],
    toHttpError,
    authReady: ready,
    onError,
    reportRejection: createReportLimiter(warn),
    schedule: internals.schedule ?? schedule,
  }
}

/** Returns the part of a log record that names a request. A query is left out, because it may hold secrets. */
function describeRequest({ method, url }: RequestView): LogContext {
  return { method: 'http', name: `${method} ${pathOf(url)}` }
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

/** Runs a function after a delay, by the timers of the platform. */
export function setPlatformTimer(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

function checkLimit(name: string, value: number | undefined, defaultValue: number): number {
  return checkedNumber(name, value ?? defaultValue, fromZero) || Number.POSITIVE_INFINITY
}

const fromZero = { min: 0, isWhole: false }

/**
 * Rejects options that let other machines reach a server that is for this machine alone. A server whose calls need a
 * principal is for this machine alone as long as there is no `auth`.
 *
 * @throws TypeError that names the option to give.
 */
export function checkExposure(
  server: Server,
  { allowedHosts = [], auth }: { readonly allowedHosts?: readonly string[] | '*' | undefined; readonly auth?: unknown },
): void {
  const reason = localOnlyReason(server, auth)
  if (reason === undefined) return
  const isPublic = allowedHosts === '*' || !allowedHosts.every((host) => isLoopback(parseHost(host)?.name ?? host))
  if (isPublic) throw new TypeError(`allowedHosts lets other machines call, but ${reason}`)
}

/** Returns the reason why a server is for this machine alone, or undefined for a server that others may call. */
export function localOnlyReason({ localOnly, needsPrincipal }: Server, auth: unknown): string | undefined {
  return localOnly ?? (needsPrincipal && auth === undefined ? unauthenticatedReason : undefined)
}

const unauthenticatedReason =
  'an extension of the server decides by the principal: give auth, such as what protect() returns'
