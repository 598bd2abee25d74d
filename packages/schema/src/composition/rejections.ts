import type { LimitError } from '@x/core'
import { errorCodes, McpError } from '../basic/mcp-error.ts'
import { quotaError } from './quota.ts'

/** The `data.reason` of the error when a limit that all callers share is reached. HTTP answers it with 503. */
const overloadedReason = 'overloaded'

/** Returns the error that the peer sees for a bound of the ledger: that of its own share, or that of all callers. */
export function limitErrorToMcp({ kind, max, scope, retryAfterMs, advice }: LimitError): McpError {
  if (scope === 'caller') return quotaError({ limit: kind, max, retryAfterMs, advice })
  const message = `The server has reached its limit of ${kind} for all callers: try again in ${retryAfterMs} ms`
  const data = { reason: overloadedReason, limit: kind, max, retryAfterMs }
  return new McpError(errorCodes.internal, message, { data })
}

/** The `data.reason` of an error about a part of the server that cannot be reached. HTTP answers it with 503. */
const unavailableReason = 'unavailable'

/** Milliseconds after which a request makes sense again: most stores and issuers are back within a second or two. */
const unavailableRetryMs = 1000

/** The parts of an `unavailable` error. */
export interface Unavailability {
  /** True when the handler of the call had begun. A client may send again what had not. */
  readonly begun: boolean
  /** Milliseconds after which another attempt makes sense. Default: 1,000. */
  readonly retryAfterMs?: number | undefined
  /** The failure, for the operator alone. */
  readonly cause?: unknown
}

/**
 * Returns the error of a request that a store, bus, issuer or engine keeps from being served now. Its text names none
 * of them. Its `data` says whether the handler had begun, and when to try again.
 */
export function unavailableError({ begun, retryAfterMs = unavailableRetryMs, cause }: Unavailability): McpError {
  const state = begun ? 'had begun this request' : 'has not begun this request'
  const message = `A part of the server cannot be reached, and it ${state}: try again in ${retryAfterMs} ms`
  const data = { reason: unavailableReason, retryAfterMs, begun }
  return new McpError(errorCodes.internal, message, { data, cause })
}
