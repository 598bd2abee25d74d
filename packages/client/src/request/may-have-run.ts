import { errorCodes, findMethodRow, isJsonObject, type WireError } from '@x/schema'
import { notSentReason } from '@x/exchange/internal'
import { findErrorRow } from './client-error-codes.ts'

/**
 * Errors by which a server refuses a request whose params it has not read. A missing capability is not among them: a
 * handler meets it with its first question, when steps may have run.
 */
const refusedCodes: ReadonlySet<number> = new Set([
  errorCodes.parse,
  errorCodes.invalidRequest,
  errorCodes.methodNotFound,
  errorCodes.headerMismatch,
  errorCodes.unsupportedProtocolVersion,
])

/** Reasons in error data for which a server has not begun a request, unless the member `begun` is true. */
const unbegunReasons: ReadonlySet<unknown> = new Set(['overloaded', 'stopping', 'quota', notSentReason])

/** True for a reason for which servers refuse requests before they begin them. */
export function isUnbegunReason(reason: unknown): boolean {
  return unbegunReasons.has(reason)
}

/** True for a method that may change something. One of an extension may. */
export function hasEffects(method: string): boolean {
  const row = findMethodRow(method)
  return row === undefined || row.hasEffects === true
}

/**
 * False if a request that failed surely had no effect, by its code of `ClientError`. Errors of transports and logins
 * have a member of this name.
 */
export function mayHaveRun(
  code: string,
  { method, rpc, cause }: { readonly method: string; readonly rpc?: WireError | undefined; readonly cause?: unknown },
): boolean {
  if (findErrorRow(code).isUnsent === true || !hasEffects(method)) return false
  if (rpc !== undefined) return mayServerHaveRun(rpc)
  return !(cause instanceof Error && 'mayHaveRun' in cause && cause.mayHaveRun === false)
}

/** False for an error by which a server says that it has not run the request. */
export function mayServerHaveRun({ code, data }: WireError): boolean {
  if (refusedCodes.has(code)) return false
  if (!isJsonObject(data)) return true
  if (typeof data['begun'] === 'boolean') return data['begun']
  return !unbegunReasons.has(data['reason'])
}
