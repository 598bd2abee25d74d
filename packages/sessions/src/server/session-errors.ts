import { errorCodes, isMcpError, McpError, quotaError } from '@x/schema'
import { isStateError } from '@x/state-codec'
import { sessionNotFoundCode } from '../session-metadata.ts'

/** The error of a session that is unknown, expired, deleted, revoked, altered or somebody else's. */
export class MissingSessionError extends Error {
  override readonly name = 'MissingSessionError'
  readonly sessionId: string

  constructor(sessionId: string, options: { readonly cause: unknown }) {
    super('Session not found', options)
    this.sessionId = sessionId
  }
}

/** The error of a program that uses sessions wrongly; its message is not meant for a peer. */
export class SessionUsageError extends Error {
  override readonly name = 'SessionUsageError'
}

/** Returns the error that the peer sees, and reports to the author the cause that it does not show. */
export function toPeerError(error: unknown, { report }: { readonly report: (error: unknown) => void }): McpError {
  if (isMcpError(error)) return error
  if (error instanceof MissingSessionError) {
    report(error.cause)
    return new McpError(sessionNotFoundCode, error.message, { data: { sessionId: error.sessionId } })
  }
  report(error)
  return toQuotaError(error) ?? new McpError(errorCodes.internal, 'Internal error')
}

/** Returns the error of a caller who has as much in the store as one may have; undefined for every other failure. */
export function toQuotaError(error: unknown): McpError | undefined {
  if (!isStateError(error) || error.quota === undefined) return undefined
  return quotaError({ ...error.quota, retryAfterMs: error.retryAfterMs })
}

/** Returns the error for a request whose session is missing, malformed or out of place. */
export function createInvalidSessionError(issue: string): McpError {
  return new McpError(errorCodes.invalidParams, `Invalid params: ${issue}`, { data: { reason: 'session' } })
}
