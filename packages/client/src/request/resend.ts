import { computeBackoffMs, type Clock, sleep, onCancel, offCancel } from '@x/core'
import { errorCodes, isJsonObject, type RpcResponse } from '@x/schema'
import { quotaReason } from '@x/exchange/internal'
import { isUnbegunReason } from './may-have-run.ts'
import { retryAfterMsOf } from './permanent-failure.ts'
import { isUnanswered, withCallerStack } from './client-error.ts'
import type { ClientEvents, ObservedCall } from './client-event.ts'

/** When to send a request again. */
export interface ResendPolicy {
  /**
   * True if repeating has no further effect, even if the server has received the request. Undefined if it always could
   * have one.
   */
  readonly isRepeatable: (() => boolean | Promise<boolean>) | undefined
  /**
   * Milliseconds after the first of several consecutive failures during which the request is repeated. A pause that
   * would end later does not begin.
   */
  readonly maxResendMs: number
  /** The same for the caller's quota, which its other calls free when they end. */
  readonly maxQuotaMs: number
  /**
   * Milliseconds after the first attempt during which the request is repeated. A repetition that would begin later is
   * not sent.
   */
  readonly maxTotalMs: number
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  /** Aborts when the program closes the connection. */
  readonly closed: AbortSignal | undefined
  /** Called before each pause. */
  readonly onResend: (
    resend: Omit<ClientEvents['resend'], keyof ObservedCall> & Pick<ResendableFailure, 'isUnbegun' | 'isRefused'>,
  ) => void
}

type Attempt = { readonly response: RpcResponse } | { readonly error: unknown }

interface ResendableFailure {
  readonly reason: string
  /** True if the request surely had no effect. */
  readonly isUnbegun: boolean
  /** True if the server was working on the request, or may have been when its connection ended. */
  readonly isCutOff: boolean
  readonly retryAfterMs: number
  readonly canShorten: boolean
  /** True if nothing listens at the server's address. */
  readonly isRefused: boolean
  readonly isQuota: boolean
}

/**
 * Sends a request until it is answered. After a failure that may be temporary it is sent again, but only if the server
 * has not received or not begun it, or if it is repeatable. Rejects with the last failure, or the reason of the signal.
 */
export async function sendUntilAnswered(send: () => Promise<RpcResponse>, policy: ResendPolicy): Promise<RpcResponse> {
  const { clock, maxTotalMs } = policy
  const startedAt = clock.monotonicNow()
  let outageStartedAt: number | undefined
  for (let failureCount = 0, sentCount = 1; ; failureCount += 1, sentCount += 1) {
    const sentAt = clock.monotonicNow()
    const attempt = await attemptOnce(send)
    const failure = findResendableFailure(attempt)
    if (failure === undefined || !(await mayRepeat(failure, policy))) return responseOf(attempt)
    const failedAt = clock.monotonicNow()
    const maxResendMs = maxMsOf(failure, policy)
    if (outageStartedAt === undefined || isNewOutage(failure, failedAt - sentAt, maxResendMs)) {
      outageStartedAt = failedAt
      failureCount = 0
    }
    const pauseMs = computePauseMs(failure, failureCount)
    const endsAt = failedAt + pauseMs
    if (endsAt - outageStartedAt > maxResendMs || endsAt - startedAt > maxTotalMs) return responseOf(attempt)
    const { reason, isUnbegun, isRefused } = failure
    policy.onResend({ reason, attempt: sentCount, pauseMs, isUnbegun, isRefused })
    await pause(pauseMs, policy)
    if (policy.closed?.aborted === true) return responseOf(attempt)
  }
}

/**
 * An attempt that was cut off after longer than requests are repeated begins a new outage. A server that takes as long
 * to say "not now" is still in the same one.
 */
function isNewOutage({ isCutOff }: ResendableFailure, attemptMs: number, maxResendMs: number): boolean {
  return isCutOff && attemptMs > maxResendMs
}

function maxMsOf({ isQuota }: ResendableFailure, { maxQuotaMs, maxResendMs }: ResendPolicy): number {
  return isQuota ? maxQuotaMs : maxResendMs
}

async function attemptOnce(send: () => Promise<RpcResponse>): Promise<Attempt> {
  try {
    return { response: await send() }
  } catch (error) {
    return { error }
  }
}

function responseOf(attempt: Attempt): RpcResponse {
  if ('error' in attempt) throw withCallerStack(attempt.error)
  return attempt.response
}

async function mayRepeat(
  { isUnbegun }: ResendableFailure,
  { maxResendMs, isRepeatable, closed, signal }: ResendPolicy,
): Promise<boolean> {
  if (!(maxResendMs > 0) || closed?.aborted === true) return false
  const isAllowed = isUnbegun || (await isRepeatable?.()) === true
  signal?.throwIfAborted()
  return isAllowed
}

async function pause(ms: number, { clock, signal, closed }: ResendPolicy): Promise<void> {
  let wake = (): void => {}
  const onClosed = (): void => wake()
  if (closed) onCancel(closed, onClosed)
  try {
    await sleep(ms, { clock, signal, registerWake: (wakeSleep) => void (wake = wakeSleep) })
  } finally {
    if (closed) offCancel(closed, onClosed)
  }
}

const maxPauseMs = 1000
const backoff = { firstMs: 100, maxMs: maxPauseMs }
const minOverloadPauseMs = 50
const maxRequestedPauseMs = 5000

/** A little longer than the server asks, by a random amount, so that clients do not all return at once. */
function computePauseMs({ retryAfterMs, canShorten }: ResendableFailure, failureCount: number): number {
  if (canShorten) return Math.min(retryAfterMs, maxRequestedPauseMs) + computeBackoffMs(failureCount, backoff)
  const firstMs = Math.max(retryAfterMs, minOverloadPauseMs)
  return retryAfterMs + computeBackoffMs(failureCount, { firstMs, maxMs: maxRequestedPauseMs })
}

function findResendableFailure(attempt: Attempt): ResendableFailure | undefined {
  if ('error' in attempt) return findTransportFailure(attempt.error)
  return 'error' in attempt.response ? findServerFailure(attempt.response.error) : undefined
}

/** An error that the server marks as temporary: its `data` has `retryAfterMs` and a known reason, or `begun`. */
function findServerFailure({
  code,
  data,
}: {
  readonly code: number
  readonly data?: unknown
}): ResendableFailure | undefined {
  if (code !== errorCodes.internal || !isJsonObject(data)) return undefined
  const { reason, retryAfterMs, begun } = data
  const canRefuse = isUnbegunReason(reason)
  const isTemporary = canRefuse || reason === unavailable || typeof begun === 'boolean'
  if (!isTemporary || !isDuration(retryAfterMs)) return undefined
  const isUnbegun = begun === false || (canRefuse && begun !== true)
  const isQuota = reason === quotaReason
  // A gateway names the upstream that gave no answer, and no reason.
  const name = typeof reason === 'string' ? reason : unavailable
  return {
    reason: name,
    isUnbegun,
    isCutOff: begun === true,
    retryAfterMs,
    canShorten: !canRefuse,
    isRefused: false,
    isQuota,
  }
}

const unavailable = 'unavailable'

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value >= 0
}

/** What a proxy sends if it lost the connection to the server or cannot reach it. */
const gatewayStatuses: ReadonlySet<unknown> = new Set([502, 503, 504])
const passingCodes: ReadonlySet<unknown> = new Set(['connect', 'refused', 'closed'])

/** A transport error that may not occur on another connection. All transports use the same codes. */
function findTransportFailure(error: unknown): ResendableFailure | undefined {
  if (!isUnanswered(error) || !(error.cause instanceof Error)) return undefined
  const code: unknown = Reflect.get(error.cause, 'code')
  const isUnbegun = Reflect.get(error.cause, 'mayHaveRun') === false
  const lost = { isUnbegun, isCutOff: !isUnbegun, canShorten: true, isRefused: code === 'refused', isQuota: false }
  if (error.cause.name === 'HttpError') return findHttpFailure(error.cause, retryAfterMsOf(error), lost)
  return error.cause.name === 'StdioError' && code === 'exited' ? { ...lost, reason: code, retryAfterMs: 0 } : undefined
}

function findHttpFailure(
  cause: Error,
  retryAfterMs: number,
  lost: Omit<ResendableFailure, 'reason' | 'retryAfterMs'>,
): ResendableFailure | undefined {
  const code: unknown = Reflect.get(cause, 'code')
  const status: unknown = Reflect.get(cause, 'status')
  // Something in front that knows no JSON-RPC errors, such as the balancer (RFC 6585, section 4).
  if (status === 429 && retryAfterMs > 0)
    return { ...lost, isCutOff: false, reason: quotaReason, retryAfterMs, canShorten: false, isQuota: true }
  if (!passingCodes.has(code) && !gatewayStatuses.has(status)) return undefined
  // Balancers answer 503 after having waited for a place or a connection, and 502 or 504 if they lost one.
  return { ...lost, isCutOff: lost.isCutOff && status !== 503, reason: String(code), retryAfterMs }
}
