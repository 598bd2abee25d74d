import { codeOf, isJsonObject, isUnavailable, type JsonObject, messageOf, quoteText } from '@x/core'
import { errorCodes, findMethodRow, isMcpError, McpError, type RpcResponse } from '@x/schema'

/** A page at which a caller logs in at an upstream. */
export interface LoginRequired {
  /** Address of the page. */
  readonly loginUrl: string
}

/** Why an upstream gave no answer. */
export interface UpstreamFailure {
  readonly cause?: unknown
  /** True if the upstream has never answered. */
  readonly isNew?: boolean | undefined
}

/** A process that ended is started again after 100 ms. */
const noAnswerRetryMs = 100

/**
 * For a request to which the upstream gave no answer. It says whether the request may have had an effect, and when to
 * try again, unless the upstream was silent for the whole limit. Of the cause it says what the code says; the rest goes
 * to the log, because it may contain addresses and secrets.
 */
export function noAnswerError(
  name: string,
  { begun, limitMs, ...failure }: { readonly begun: boolean; readonly limitMs?: number | undefined } & UpstreamFailure,
): McpError {
  const reason = describeCause(failure.cause)
  const limit = limitMs !== undefined ? ` within ${limitMs} ms` : reason && ` (${reason})`
  const effect = begun ? 'the request may have had an effect' : 'the request has had no effect'
  const more = limitMs === undefined ? retryOf(failure, noAnswerRetryMs) : {}
  return upstreamError(name, `gave no answer${limit}: ${effect}`, { more: { begun, ...more } })
}

/** For a request that is refused here after the upstream has begun it. */
export function begunError({ code, message, data }: McpError): McpError {
  const begunData = { ...(isJsonObject(data) && data), begun: true }
  return new McpError(code, `${message}. This request may have had an effect`, { data: begunData })
}

/** True if a failed request may have had an effect. Methods of extensions may have one. */
export function mayHaveBegun(method: string, error: unknown): boolean {
  const row = findMethodRow(method)
  if (row !== undefined && row.hasEffects !== true) return false
  return !(error instanceof Error && 'mayHaveRun' in error && error.mayHaveRun === false)
}

export function invalidResultError(name: string): McpError {
  return upstreamError(name, 'gave an invalid result')
}

/** What the codes of `HttpError` and `StdioError` say about an upstream without an answer. */
const causes: ReadonlyMap<unknown, string> = new Map([
  ['refused', 'nothing listens at its address'],
  ['connect', 'no connection could be made'],
  ['certificate', 'it does not speak TLS, or its certificate is not trusted'],
  ['timeout', 'it did not answer in time'],
  ['closed', 'the connection broke'],
  ['spawn', 'its program could not be started'],
  ['create', 'its connection could not be created'],
])

const exitCodes: ReadonlySet<unknown> = new Set(['exited', 'restarts'])

/** Causes that need an operator. */
const permanentCauses: ReadonlySet<unknown> = new Set(['spawn', 'probe', 'certificate', 'create'])

/** For an upstream whose `connect` throws, as it does for a wrong option. */
export function connectError(cause: unknown): Error {
  return Object.assign(new Error(messageOf(cause), { cause }), { code: 'create' })
}

/**
 * The process of an upstream that has never answered would end again in the same way. That of another one is started
 * again, even if it has ended too often: its connection gives it up, and the gateway opens another one.
 */
function retryOf({ cause, isNew }: UpstreamFailure, retryAfterMs: number): JsonObject {
  const code = codeOf(cause)
  const isPermanent = permanentCauses.has(code) || (isNew === true && code === 'restarts')
  return isPermanent ? { permanent: true } : { retryAfterMs: Math.max(retryAfterMs, requestedRetryMs(cause)) }
}

/** The milliseconds that the upstream asks for with `Retry-After`, as an `HttpError` has them. 0 if it does not. */
function requestedRetryMs(cause: unknown): number {
  const delayMs: unknown = Reflect.get(Object(cause), 'retryAfterMs')
  return typeof delayMs === 'number' && delayMs > 0 ? delayMs : 0
}

function describeCause(cause: unknown): string {
  const status = statusIn(cause)
  if (status !== undefined) return `HTTP ${status}`
  return exitCodes.has(codeOf(cause)) ? describeExit(cause) : (causes.get(codeOf(cause)) ?? '')
}

function describeExit(cause: unknown): string {
  const [exitCode, signal]: unknown[] = ['exitCode', 'signal'].map((member) => Reflect.get(Object(cause), member))
  if (typeof signal === 'string') return `its process was ended by ${signal}`
  return typeof exitCode === 'number' ? `its process ended with code ${exitCode}` : 'its process ended'
}

/** For a request that was not sent, because the upstream has given no answers. */
export function awayError(name: string, retryAfterMs: number, failure: UpstreamFailure): McpError {
  const reason = describeCause(failure.cause)
  const problem = reason === '' ? 'is unreachable' : `is unreachable: ${reason}`
  return upstreamError(name, problem, { more: { begun: false, ...retryOf(failure, retryAfterMs) } })
}

const startingRetryMs = 2000

/** For a request that was not sent, because the upstream's process has not answered anything yet. */
export function notStartedError(name: string): McpError {
  return upstreamError(name, 'has not started yet', { more: { begun: false, retryAfterMs: startingRetryMs } })
}

/**
 * For a request that comes after the program has closed a gateway or a proxy, which `what` names. It stays closed, so a
 * host has nothing to wait for.
 */
export function closedError(what: string): McpError {
  const message = `${what} was closed here: the request was not sent, and another attempt fails too`
  return new McpError(errorCodes.internal, message, { data: { begun: false, permanent: true } })
}

/** For a call whose process cannot be reached any more. */
export function lostCallError(name: string): McpError {
  const problem = 'has the call at an instance that gave no answer: the call may have acted'
  return upstreamError(name, problem, { more: { begun: true } })
}

const refusedReason = 'refused'

/** For a request that the upstream has answered, but not in the protocol. Others may succeed. */
export function refusedError(name: string, method: string, cause: unknown): McpError {
  const status = statusIn(cause) ?? 0
  // A status below 300 says nothing: the body is too large, or no JSON-RPC.
  const problem = status < 300 ? 'gave an answer that cannot be read' : `answered with HTTP ${status}`
  const retryAfterMs = requestedRetryMs(cause)
  const more = { reason: refusedReason, begun: mayHaveBegun(method, cause), ...(retryAfterMs > 0 && { retryAfterMs }) }
  return upstreamError(name, problem, { more })
}

const answerCodes: ReadonlySet<unknown> = new Set(['too_large', 'protocol', 'redirect', 'unsupported_version', 'ended'])

/**
 * True for an error that says something about one request, and nothing about the upstream: a status such as 413, or an
 * answer beyond a limit. A balancer sends 502 to 504 for an upstream that is away.
 */
export function isAboutRequest(error: unknown): boolean {
  const status = statusIn(error)
  if (status !== undefined) return status < 502 || status > 504
  return answerCodes.has(codeOf(error))
}

function statusIn(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined
}

const credentialReason = 'credential'
const credentialRetryMs = 2000
/** Connections add one or two. */
const maxCauses = 8

/**
 * For a request that was not sent, because its caller has no valid credential at the upstream. It is not a failure of
 * the upstream. The cause is only for the log.
 */
export function credentialError(name: string, cause: unknown): McpError {
  const loginUrl = findLoginUrl(cause)
  const more = {
    reason: credentialReason,
    begun: false,
    ...(isTemporaryCause(cause) && { retryAfterMs: credentialRetryMs }),
    ...(loginUrl !== undefined && { loginUrl }),
  }
  return upstreamError(name, 'cannot be called: no credential of the caller could be obtained', { more, cause })
}

/** For a request that was not sent, because its caller must log in at the upstream first. */
export function loginNeededError(name: string, { loginUrl }: LoginRequired): McpError {
  return upstreamError(name, 'cannot be called: the caller must log in first', {
    more: { reason: credentialReason, begun: false, loginUrl },
  })
}

/** True for a credential whose issuer or store cannot be reached. The code is that of `AuthError`. */
function isTemporaryCause(cause: unknown): boolean {
  return isUnavailable(cause) || codeOf(cause) === 'server_unavailable'
}

/** Codes of `AuthError` for a page that a user must visit, and for one that is open in a browser. */
const loginCodes: ReadonlySet<unknown> = new Set(['authorization_needed', 'login_pending'])

/** The page at which a caller without a valid credential logs in. Code and member are those of `AuthError`. */
function findLoginUrl(cause: unknown): string | undefined {
  const isLogin = isLoginError(cause) && 'url' in cause
  return isLogin && cause.url instanceof URL ? cause.url.href : undefined
}

/** True for the error of a connection's authorizer that waits for a user. */
export function isLoginError(error: unknown): error is Error {
  return error instanceof Error && loginCodes.has(codeOf(error))
}

/** The page of the login that a response asks for. Undefined for any other response. */
export function findNeededLogin(response: RpcResponse): LoginRequired | undefined {
  const data = 'error' in response ? response.error.data : undefined
  if (!hasCredentialReason(data)) return undefined
  return typeof data['loginUrl'] === 'string' ? { loginUrl: data['loginUrl'] } : undefined
}

/** Finds the {@link credentialError} among an error and its causes. */
export function findCredentialError(error: unknown): McpError | undefined {
  let current = error
  for (let depth = 0; depth < maxCauses && current instanceof Error; depth += 1) {
    if (isMcpError(current) && hasCredentialReason(current.data)) return current
    current = current.cause
  }
  return undefined
}

/** True for an error that says nothing about the requests of other callers. */
export function isOfOneCaller(response: RpcResponse): boolean {
  const data = 'error' in response ? response.error.data : undefined
  return hasCredentialReason(data) || (isJsonObject(data) && data['reason'] === refusedReason)
}

function hasCredentialReason(data: unknown): data is JsonObject {
  return isJsonObject(data) && data['reason'] === credentialReason
}

function upstreamError(
  name: string,
  problem: string,
  { more, cause }: { readonly more?: JsonObject; readonly cause?: unknown } = {},
): McpError {
  const data = { upstream: name, ...more }
  return new McpError(errorCodes.internal, `Upstream ${quoteText(name)} ${problem}`, { data, cause })
}
