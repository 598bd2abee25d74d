import { errorCodes, findMethodRow, isJsonObject, type WireError } from '@x/schema'
import { notSentReason } from '@x/exchange/internal'

/** The codes of a client that has sent nothing. */
const unsentCodes: ReadonlySet<string> = new Set([
  'unsupported_version',
  'invalid_arguments',
  'invalid_pending',
  'schema_refused',
])

/**
 * The errors with which a server refuses a request whose params it has not read. A missing capability is not among them:
 * a handler meets it with its first question, when steps may have run.
 */
const refusedCodes: ReadonlySet<number> = new Set([
  errorCodes.invalidRequest,
  errorCodes.methodNotFound,
  errorCodes.headerMismatch,
  errorCodes.unsupportedProtocolVersion,
])

/** The reasons in error data for which a server has not begun a request, unless the member `begun` is true. */
const unbegunReasons: ReadonlySet<unknown> = new Set(['overloaded', 'stopping', 'quota', notSentReason])

/** Returns true if a server names a reason for which it refuses requests before it begins them. */
export function isUnbegunReason(reason: unknown): boolean {
  return unbegunReasons.has(reason)
}

/**
 * Returns false if a call that failed with a code of `ClientError` surely had no effect. The errors of transports and
 * logins have a member of this name.
 */
export function mayHaveRun(
  code: string,
  { method, rpc, cause }: { readonly method: string; readonly rpc?: WireError | undefined; readonly cause?: unknown },
): boolean {
  const row = findMethodRow(method)
  if (unsentCodes.has(code) || (row !== undefined && row.hasEffects === undefined)) return false
  if (rpc !== undefined) return mayServerHaveRun(rpc)
  return !(cause instanceof Error && 'mayHaveRun' in cause && cause.mayHaveRun === false)
}

function mayServerHaveRun({ code, data }: WireError): boolean {
  if (refusedCodes.has(code)) return false
  if (!isJsonObject(data)) return true
  if (typeof data['begun'] === 'boolean') return data['begun']
  return !unbegunReasons.has(data['reason'])
}
