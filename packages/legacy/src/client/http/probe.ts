import {
  encodeMessage,
  errorCodes,
  errorResponse,
  McpError,
  metaKeys,
  protocolVersion,
  type RpcError,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { HttpError, isHttpError } from '@x/transport-http/client'
import { metaIn } from '@x/schema/internal'
import { LegacyError } from '../calls/legacy-error.ts'
import type { HttpSession, SentRequest } from './http-session.ts'
import { readRpcResponse } from './read-response.ts'

/**
 * These, and those from 500 up, are about authorization, limits or a failure, and so say nothing about the server's
 * revision (LEG-084).
 */
const undecidedStatuses: ReadonlySet<number> = new Set([401, 403, 407, 408, 429])

/**
 * Sends `server/discover` (basic/versioning, backward compatibility). A response that no server of 2026-07-28 would
 * send becomes the error for an unknown method. Rejects if the response leaves the revision unclear, for example
 * because of authorization, a limit, or a failed connection.
 */
export async function sendProbe(
  session: HttpSession,
  { request, signal, handlers }: SentRequest,
): Promise<RpcResponse> {
  const { http } = session
  const headers = { 'mcp-protocol-version': protocolVersionIn(request), 'mcp-method': request.method }
  const response = await http
    .send({ method: 'POST', headers, body: encodeMessage(request), rpcRequest: request, signal })
    .catch(ignoreBrowserFailure)
  if (response === undefined) return createLegacyEvidence(request)
  if (response.status >= 200 && response.status < 300) {
    const bounded = { ...session, maxStreamBytes: http.bounds.bytes }
    return readRpcResponse(bounded, response, { request, signal, handlers }).catch((error: unknown) => {
      if (isHttpError(error) && error.code === 'protocol') return createLegacyEvidence(request)
      throw error
    })
  }
  const { rpcError, error } = await response.readFailure()
  const isUndecided = undecidedStatuses.has(response.status) || response.status >= 500
  if (!isUndecided) return rpcError ?? createLegacyEvidence(request)
  throw rpcError === undefined ? error : new LegacyError('undecided', rpcError.error.message, rpcError)
}

function createLegacyEvidence({ id, method }: RpcRequest): RpcError {
  return errorResponse(id, new McpError(errorCodes.methodNotFound, `The server does not answer ${method}`))
}

function protocolVersionIn({ params }: RpcRequest): string {
  const version = metaIn(params)[metaKeys.protocolVersion]
  return typeof version === 'string' ? version : protocolVersion
}

/**
 * Ignores the bare `TypeError` behind which a browser hides a rejected CORS preflight: older servers reject it, because
 * they do not allow the headers of 2026-07-28. Throws any other error.
 */
function ignoreBrowserFailure(error: unknown): undefined {
  const isBare =
    error instanceof HttpError &&
    error.code === 'closed' &&
    error.cause instanceof TypeError &&
    error.cause.cause === undefined
  if (!isBare) throw error
}
