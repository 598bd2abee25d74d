import { errorCodes, errorResponse, isMcpError, McpError, methodRow, type RpcError, type RpcRequest } from '@x/schema'
import { type InputDeclined, isInputDeclined } from './definitions/input-declined.ts'
import { type ErrorContext, report, type ServerSettings } from './replay/served-request.ts'

const defined = new Set<number>(Object.values(errorCodes))

/**
 * The one place where errors become what the peer sees: an McpError as it is, all else as -32603 without detail, which
 * the author is told of.
 */
export function answerError(error: unknown, request: RpcRequest, settings: ServerSettings): RpcError {
  if (isMcpError(error) && maySend(error)) return errorResponse(request.id, error)
  if (isInputDeclined(error)) return errorResponse(request.id, declined(error))
  report(error, errorContextFor(request), settings)
  return errorResponse(request.id, undefined)
}

/** A prompt or a resource has no other way to say that its user would not answer. */
function declined({ key, action, message }: InputDeclined): McpError {
  return new McpError(errorCodes.invalidParams, message, { data: { key, action } })
}

function errorContextFor({ method, params }: RpcRequest): ErrorContext {
  const named = methodRow(method)?.named
  const name = named && params?.[named]
  return typeof name === 'string' ? { method, name: name.slice(0, 1000) } : { method }
}

/**
 * Returns whether a code may be sent. Those from -32099 to -32000 are the specification's to define, and some that it
 * once defined must not be sent any more (basic/index, error codes).
 */
function maySend({ code }: McpError): boolean {
  if (!Number.isSafeInteger(code)) return false
  return defined.has(code) || code < -32099 || code > -32000
}
