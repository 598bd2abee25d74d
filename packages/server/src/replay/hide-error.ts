import { errorCodes, isMcpError, McpError } from '@x/schema'
import { report, type RequestState } from './served-request.ts'

/**
 * Returns the error that the peer sees for a failure outside the handler, which is not a result of its tool: an
 * McpError unchanged, everything else without detail. The author receives the original.
 */
export function hideError(error: unknown, { method, call, settings }: RequestState, name: string): McpError {
  if (isMcpError(error)) return error
  // A call that was told to stop has not failed.
  if (!call.signal.aborted) report(error, { method, name }, settings)
  return new McpError(errorCodes.internal, 'Internal error')
}
