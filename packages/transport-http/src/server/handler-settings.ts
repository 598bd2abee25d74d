import {
  codeOf,
  errorRecord,
  isThisMachine,
  type Log,
  type LogContext,
  maxTimerMs,
  type OptionTable,
  platformRuntime,
  type Schedule,
  requireSync,
  type ResolvedOptions,
} from '@x/core'
import type { Server } from '@x/exchange'
import { defaultBounds, type ParseBounds, protocolVersion } from '@x/schema'
import { type AuthenticateFunction, compileAuth, type HttpAuth } from './auth.ts'
import { compileCors, type CorsRule } from './cors.ts'
import { type CompiledDocuments, compileDocuments } from './documents.ts'
import { compileHosts, type HostRule, loopbackHosts } from './hosts.ts'
import { compileOrigins, type OriginRule } from './origins.ts'
import type { RequestView } from './http-adapter.ts'

// limit: count | different rejections of `Host` or `Origin` in the log, per minute | the others are only counted
const maxReportsPerMinute = 100
const minuteMs = 60_000

type ReportRejection<Source> = (reason: string, request: RequestView<Source>) => void

/**
 * Reports at most 100 reasons a minute, and each reason once a minute. A foreign page can make a browser send rejected
 * requests without end, and they must not fill the server's log. Each report says how many earlier ones were left out.
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

/** Options of the HTTP handlers. Every default is safe on a machine on which users also run a browser. */
export interface HandlerOptions<Source> {
  /**
   * Accepted `Host` headers, as a protection against DNS rebinding. `example.com` allows every port, and
   * `example.com:8443` allows one. By default only the names of this machine are accepted. `'*'` accepts every host,
   * for a proxy that checks the header itself.
   */
  readonly allowedHosts?: readonly string[] | '*' | undefined
  /**
   * Origins of pages that may send requests, such as `https://app.example.com`, or `'*'` for all. Answers to these
   * pages have CORS headers. No page may send cookies. By default no answer has CORS headers, and a request with an
   * `Origin` is accepted only if the page comes from the called host, or if both are on this machine. Requests without
   * an `Origin` do not come from a page and are accepted. With `allowedHosts: '*'` and no `allowedOrigins`, every
   * request with an `Origin` is rejected with 403.
   */
  readonly allowedOrigins?: readonly string[] | '*' | undefined
  /** Maximum number of bytes in the body of a request. Default 4 MiB. A longer body is rejected with 413. */
  readonly maxBodyBytes?: number | undefined
  /**
   * Time limit of a call in milliseconds. Default: 5 minutes. 0 means no limit. At the limit, `call.signal` aborts and
   * the client gets an internal error, with status 504 or on its stream. Streaming calls (`subscriptions/listen`) have
   * no limit.
   */
  readonly timeoutMs?: number | undefined
  /**
   * Milliseconds without output after which a comment is sent to keep the connection open. 0 sends no comments.
   * Default: 15 seconds on `node:http`, and 5 seconds for web requests, because Bun closes connections after 10 seconds
   * without traffic. The first comment makes the answer of a call an event stream.
   */
  readonly keepAliveMs?: number | undefined
  /**
   * Authenticates requests: the result of `protect` of `@x/auth/server`, or a function of yours. It returns a
   * principal, undefined for an anonymous caller, or an HTTP response that rejects the request.
   */
  readonly auth?: AuthenticateFunction<Source> | HttpAuth<Source> | undefined
  /**
   * Address of the client. Callers without a principal share one quota for each address. Default on Node: the address
   * of the socket. On other platforms there is no default, so all anonymous callers share one quota. Behind a proxy,
   * return the address that the proxy reports, because the socket has the proxy's own.
   */
  readonly clientAddress?: ((request: RequestView<Source>) => string | undefined) | undefined
}

/** What tests of this package replace. These are no options, because no server needs other values. */
export interface HandlerInternals {
  /** Starts timers. Default: the platform's. */
  readonly schedule?: Schedule | undefined
  readonly maxQueuedBytes?: number | undefined
}

const fromZero = { min: 0, isWhole: false }

export const timerBounds = { ...fromZero, max: maxTimerMs }

export const handlerOptionTable = {
  allowedHosts: { default: loopbackHosts },
  allowedOrigins: undefined,
  // limit: bytes | a request body | 413
  maxBodyBytes: { default: defaultBounds.bytes, ...fromZero },
  // limit: `timeoutMs` of `serveHttp` | ms | a call, except `subscriptions/listen` | 504
  timeoutMs: { default: 300_000, ...timerBounds },
  keepAliveMs: { default: 15_000, ...timerBounds },
  auth: undefined,
  clientAddress: undefined,
} satisfies OptionTable<HandlerOptions<never>>

export type ResolvedHandlerOptions<Source> = ResolvedOptions<HandlerOptions<Source>, typeof handlerOptionTable>

export interface HandlerSettings<Source>
  extends Pick<ResolvedHandlerOptions<Source>, 'timeoutMs' | 'keepAliveMs' | 'clientAddress'> {
  readonly hosts: HostRule
  readonly origins: OriginRule
  readonly cors: CorsRule | undefined
  readonly bounds: ParseBounds
  readonly maxQueuedBytes: number
  readonly authenticate: HttpAuth<Source>['authenticate'] | undefined
  readonly documents: CompiledDocuments | undefined
  /** Accepted protocol revisions, newest first. */
  readonly supportedVersions: readonly string[]
  readonly toHttpError: HttpAuth<Source>['toHttpError']
  readonly authReady: (() => Promise<void>) | undefined
  readonly onError: (error: unknown, request: RequestView<Source>) => void
  /** Reports why a token was rejected, before the body of its request is read. */
  readonly reportAuthentication: (error: unknown, request: RequestView<Source>) => void
  readonly reportRejection: ReportRejection<Source>
  readonly schedule: Schedule
}

/**
 * Bytes that may wait for a slow reader: about 1,000 notifications of a kilobyte. Beyond that, notifications of the
 * call are dropped, and its response is still sent. A streaming call (`subscriptions/listen`) is aborted instead,
 * because its client could not detect the loss.
 */
// limit: bytes | output that waits for a slow reader | notifications are dropped, streams are closed
const maxQueuedBytes = 1_048_576

/**
 * Compiles options once, before any request arrives. `schedule` starts the platform's timers, unless `internals` has
 * another one.
 *
 * @throws TypeError for an invalid host, origin or document path, and for an `auth` without `authenticate`.
 */
export function compileSettings<Source>(
  options: ResolvedHandlerOptions<Source>,
  server: Pick<Server, 'adapters' | 'log'>,
  schedule: Schedule,
  internals: HandlerInternals,
): HandlerSettings<Source> {
  const { log } = server
  const { clientAddress } = options
  const adapter = server.adapters.http
  const onError = (err: unknown, view: RequestView<Source>): void => log(errorRecord(err, describeRequest(view)))
  const reportAuthentication = (err: unknown, view: RequestView<Source>): void =>
    log({ ...errorRecord(err, describeCall(view)), code: codeOf(err) })
  const warn = (message: string, view: RequestView<Source>): void =>
    log({ ...describeRequest(view), level: 'warn', code: 'rejected', message })
  const { authenticate, documents, toHttpError, ready } = compileAuth(options.auth)
  return {
    hosts: compileHosts(options.allowedHosts),
    origins: compileOrigins(options.allowedOrigins),
    cors: options.allowedOrigins === undefined ? undefined : compileCors(adapter),
    bounds: { ...defaultBounds, bytes: options.maxBodyBytes },
    timeoutMs: options.timeoutMs || Number.POSITIVE_INFINITY,
    keepAliveMs: options.keepAliveMs || Number.POSITIVE_INFINITY,
    maxQueuedBytes: internals.maxQueuedBytes ?? maxQueuedBytes,
    authenticate,
    clientAddress: clientAddress && ((view) => requireSync('clientAddress', clientAddress(view))),
    documents: compileDocuments(documents),
    supportedVersions: [protocolVersion, ...(adapter?.revisions ?? [])],
    toHttpError: toHttpError && ((error, request) => requireSync('toHttpError', toHttpError(error, request))),
    authReady: reportFirstFailure(ready, log),
    onError,
    reportAuthentication,
    reportRejection: createReportLimiter(warn),
    schedule: internals.schedule ?? schedule,
  }
}

/** Health checks come every second, so the first failure of a row is logged. */
function reportFirstFailure<Source>(authReady: HttpAuth<Source>['ready'], log: Log): (() => Promise<void>) | undefined {
  if (authReady === undefined) return undefined
  const report = (err: unknown): void => log({ ...errorRecord(err, { method: 'ready' }), code: codeOf(err) })
  let hasFailed = false
  return async () => {
    try {
      await authReady({ report })
      hasFailed = false
    } catch (cause) {
      const err = new Error('No access token can be verified, so the server is not ready', { cause })
      if (!hasFailed) log({ ...errorRecord(err), code: codeOf(cause) })
      hasFailed = true
      throw cause
    }
  }
}

/** For the log. The query is left out, because it may contain secrets. */
function describeRequest({ method, url }: RequestView): LogContext {
  return { method: 'http', name: `${method} ${url.split('?', 1)[0] ?? ''}` }
}

/** What the headers say about a call. Those of older revisions say nothing. */
function describeCall(view: RequestView): LogContext {
  const request = describeRequest(view)
  const [method, name] = [view.header('mcp-method'), view.header('mcp-name')]
  return method === undefined ? request : { method, name: name ?? request.name }
}

/** Uses the platform's timers. Call the returned function to cancel. */
export function setPlatformTimer(run: () => void, ms: number): () => void {
  // oxlint-disable-next-line no-restricted-globals -- the default of a value that tests replace
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/**
 * Checks that the options do not let other machines call a server that only this machine may call. Without `auth`, a
 * server whose calls need a principal is one. A server without a key may be called, which is logged.
 *
 * @throws TypeError if the options let other machines call such a server. The message names the missing option.
 */
export function checkExposure(
  server: Server,
  { allowedHosts = [], auth }: { readonly allowedHosts?: readonly string[] | '*' | undefined; readonly auth?: unknown },
): void {
  if (namesThisMachine(allowedHosts)) return
  const reason = localOnlyReason(server, auth)
  if (reason !== undefined) throw new TypeError(`allowedHosts lets other machines call, but ${reason}`)
  logSingleProcess(server)
}

/** True if only this machine can call a server that accepts these names of `Host`. */
export function namesThisMachine(allowedHosts: readonly string[] | '*'): boolean {
  return allowedHosts !== '*' && allowedHosts.every(isThisMachine)
}

/** Says once, at the start of a server that other machines can call, that it has no key for a second instance. */
export function logSingleProcess({ singleProcess, log }: Server): void {
  if (singleProcess !== undefined) log({ level: 'warn', code: 'random_key', message: singleProcess })
}

/** Says why only this machine may call a server. Undefined if other machines may. */
export function localOnlyReason({ localOnly, needsPrincipal }: Server, auth: unknown): string | undefined {
  return localOnly ?? (needsPrincipal && auth === undefined ? unauthenticatedReason : undefined)
}

const unauthenticatedReason = 'what it serves depends on the caller: give auth, such as what protect() returns'
