import { codeOf } from '@x/core'
import { errorCodes, isJsonObject, type WireError } from '@x/schema'
import { findErrorRow } from './client-error-codes.ts'
import { type ClientError, isUnanswered } from './client-error.ts'

const permanentCodes: ReadonlySet<number> = new Set([
  errorCodes.invalidRequest,
  errorCodes.methodNotFound,
  errorCodes.invalidParams,
  errorCodes.headerMismatch,
  errorCodes.missingRequiredClientCapability,
  errorCodes.unsupportedProtocolVersion,
])

// HTTP statuses that only other credentials can avoid.
const permanentStatuses: ReadonlySet<unknown> = new Set([401, 403])

// No retry helps against an untrusted certificate, or a process that cannot be started (`spawn`), does not answer as an
// MCP server (`probe`), or has ended too often (`restarts`).
const permanentCauseCodes: ReadonlySet<unknown> = new Set(['certificate', 'spawn', 'probe', 'restarts'])

/**
 * True if repeating is known to be useless: for `unsupported_version`, `input_required`, an `rpc` error about the
 * request itself (such as invalid params) or with `permanent` in its data, HTTP 401 or 403, an untrusted certificate,
 * a process that cannot be started, does not answer its first request or has ended too often, and a connection or
 * gateway that was closed before the call. False for all other codes, even if the same call will fail again, as with
 * `invalid_arguments`.
 */
export function isPermanent(error: ClientError): boolean {
  const { code, rpc, cause } = error
  if (findErrorRow(code).isPermanent === true) return true
  if (rpc !== undefined) return isPermanentRpc(rpc)
  if (!isUnanswered(error) || !(cause instanceof Error)) return false
  if ('status' in cause && permanentStatuses.has(cause.status)) return true
  const causeCode = codeOf(cause)
  // A connection that breaks may have sent the call. One that was closed before it does not open again.
  const isClosedBefore = causeCode === 'closed' && Reflect.get(cause, 'mayHaveRun') === false
  return isClosedBefore || permanentCauseCodes.has(causeCode)
}

/** A gateway marks the error of a server that cannot be started. */
function isPermanentRpc({ code, data }: WireError): boolean {
  return permanentCodes.has(code) || (isJsonObject(data) && data['permanent'] === true)
}

/**
 * Milliseconds after which the server accepts another request: `retryAfterMs` in its error's data, or the HTTP header
 * `Retry-After`. 0 if the error has neither.
 */
export function retryAfterMsOf({ rpc, cause }: ClientError): number {
  const source: unknown = rpc?.data ?? cause
  const delayMs: unknown =
    typeof source === 'object' && source !== null ? Reflect.get(source, 'retryAfterMs') : undefined
  return typeof delayMs === 'number' && delayMs > 0 ? delayMs : 0
}
