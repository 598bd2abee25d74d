import { errorCodes, isMcpError, McpError } from '@x/schema'
import { report, type Scope } from '../request/scope.ts'

/**
 * What the peer sees of a failure around a handler, which is none of the handler's and so no result of its tool: an McpError as it is,
 * of all else that it happened. The author is told.
 */
export function hideError(error: unknown, { method, call, settings }: Scope, name: string): McpError {
  if (isMcpError(error)) return error
  // A call that was told to stop has not failed.
  if (!call.signal.aborted) report(error, { method, name }, settings)
  return new McpError(errorCodes.internal, 'Internal error')
}
