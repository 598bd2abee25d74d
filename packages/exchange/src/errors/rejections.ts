import { formatRetryAfter, isJsonObject, type LimitError } from '@x/core'
import { errorCodes, McpError } from '@x/schema'
import type { HttpErrorResponse } from './http-errors.ts'
import { quotaError } from './quota.ts'

/** `data.reason` of the error for a limit that all callers share. Over HTTP its status is 503. */
export const overloadedReason = 'overloaded'

/** Error for a reached limit of the ledger: that of one caller, or the total of all. */
export function limitErrorToMcp({ kind, max, scope, retryAfterMs, advice }: LimitError): McpError {
  if (scope === 'caller') return quotaError({ limit: kind, max, retryAfterMs, advice })
  const message = `The server has reached its limit of ${kind} for all callers: try again in ${retryAfterMs} ms`
  const data = { reason: overloadedReason, limit: kind, max, retryAfterMs }
  return new McpError(errorCodes.internal, message, { data })
}

/** HTTP response for a limit of the ledger that a request reaches before a call exists: 429, or 503 for all callers'. */
export function limitErrorToHttp(error: LimitError): HttpErrorResponse {
  const { code, message, data } = limitErrorToMcp(error)
  return {
    status: error.scope === 'caller' ? 429 : 503,
    message,
    code,
    ...(isJsonObject(data) && { data }),
    headers: { 'Retry-After': formatRetryAfter(error.retryAfterMs) },
  }
}

/** `data.reason` of the error for an unreachable part of the server, such as a store. Over HTTP its status is 503. */
const unavailableReason = 'unavailable'

/**
 * `data.reason` of an error response that a connection makes itself, for a request that it did not send because the
 * server has no such method.
 */
export const notSentReason = 'not_sent'

/**
 * Error for a running call that a stopping server ends. Its `data` has the reason `stopping`, `retryAfterMs` 0, because
 * another instance may serve the call at once, and `begun`: true, because its handler may have had effects.
 */
export function stoppingError(): McpError {
  const data = { reason: 'stopping', retryAfterMs: 0, begun: true }
  return new McpError(errorCodes.internal, 'The server is stopping and ended this call', { data })
}

/** One error for every `requestState` that is not accepted, so that it reveals no reason. */
export function invalidStateError(): McpError {
  return new McpError(errorCodes.invalidParams, 'Invalid or expired requestState', { data: { reason: 'requestState' } })
}

/** Most stores and issuers can be reached again within two seconds. */
const unavailableRetryMs = 1000

/**
 * Error for a request that cannot be served now, because a store, bus, issuer or engine is unreachable. The message
 * does not name it; only the operator sees `cause`. The `data` has `retryAfterMs`, by default 1,000, and `begun`: true
 * if the call's handler had begun. If it had not, the client may safely send the call again.
 */
export function unavailableError({
  begun,
  retryAfterMs = unavailableRetryMs,
  cause,
}: {
  readonly begun: boolean
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}): McpError {
  const state = begun ? 'had begun this request' : 'has not begun this request'
  const message = `A part of the server cannot be reached, and it ${state}: try again in ${retryAfterMs} ms`
  const data = { reason: unavailableReason, retryAfterMs, begun }
  return new McpError(errorCodes.internal, message, { data, cause })
}
