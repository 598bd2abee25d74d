import type { LimitError } from '@x/core'
import { errorCodes, McpError } from '../basic/mcp-error.ts'
import { quotaError } from './quota.ts'

/** The `data.reason` of the error when a limit that all callers share is reached. HTTP answers it with 503. */
const overloadedReason = 'overloaded'

/** Returns the error for a reached bound of the ledger: the caller's own share, or the total of all callers. */
export function limitErrorToMcp({ kind, max, scope, retryAfterMs, advice }: LimitError): McpError {
  if (scope === 'caller') return quotaError({ limit: kind, max, retryAfterMs, advice })
  const message = `The server has reached its limit of ${kind} for all callers: try again in ${retryAfterMs} ms`
  const data = { reason: overloadedReason, limit: kind, max, retryAfterMs }
  return new McpError(errorCodes.internal, message, { data })
}

/** The `data.reason` of an error about a part of the server that cannot be reached. HTTP answers it with 503. */
const unavailableReason = 'unavailable'

/** Milliseconds until the next attempt: most stores and issuers can be reached again within two seconds. */
const unavailableRetryMs = 1000

/** The parts of an `unavailable` error. */
export interface Unavailability {
  /** True when the handler of the call had begun. A client may send a call again whose handler had not. */
  readonly begun: boolean
  /** Milliseconds until the next attempt. Default: 1,000. */
  readonly retryAfterMs?: number | undefined
  /** The failure, for the operator alone. */
  readonly cause?: unknown
}

/**
 * Returns the error of a request that cannot be served now, because a store, bus, issuer or engine is unreachable. Its
 * text does not name that part. Its `data` says whether the handler had begun, and when to try again.
 */
export function unavailableError({ begun, retryAfterMs = unavailableRetryMs, cause }: Unavailability): McpError {
  const state = begun ? 'had begun this request' : 'has not begun this request'
  const message = `A part of the server cannot be reached, and it ${state}: try again in ${retryAfterMs} ms`
  const data = { reason: unavailableReason, retryAfterMs, begun }
  return new McpError(errorCodes.internal, message, { data, cause })
}
