import { errorCodes, errorResponse, isMcpError, McpError, type RpcError, type RpcRequest } from '@x/schema'
import { sessionNotFound } from '../session-metadata.ts'
import type { SessionRules } from './session-rules.ts'

/** A session that is unknown, expired, deleted, revoked, altered or somebody else's. */
export class SessionNotFound extends Error {
  override readonly name = 'SessionNotFound'
  readonly sessionId: string

  constructor(sessionId: string, options: { readonly cause: unknown }) {
    super('Session not found', options)
    this.sessionId = sessionId
  }
}

/** The one place where errors of sessions become what the peer sees; the author is told of what it does not say. */
export function refuse(error: unknown, request: RpcRequest, rules: SessionRules): RpcError {
  if (error instanceof SessionNotFound) {
    rules.report(error.cause, request)
    const { message, sessionId } = error
    return errorResponse(request.id, new McpError(sessionNotFound, message, { data: { sessionId } }))
  }
  if (!isMcpError(error)) rules.report(error, request)
  return errorResponse(request.id, error)
}

/** A request whose session is missing, malformed or out of place. */
export function invalidSession(issue: string): McpError {
  return new McpError(errorCodes.invalidParams, `Invalid params: ${issue}`, { data: { reason: 'session' } })
}
