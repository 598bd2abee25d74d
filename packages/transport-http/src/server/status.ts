import { errorCodes, type RpcResponse } from '@x/schema'
import { retryAfterOf } from './load.ts'

const statuses: ReadonlyMap<number, number> = new Map([
  [errorCodes.parse, 400],
  [errorCodes.invalidRequest, 400],
  [errorCodes.methodNotFound, 404],
  [errorCodes.invalidParams, 400],
  [errorCodes.internal, 500],
  [errorCodes.headerMismatch, 400],
  [errorCodes.missingRequiredClientCapability, 400],
  [errorCodes.unsupportedProtocolVersion, 400],
])

/**
 * The HTTP status of a JSON-RPC response: 400, 404 or 500 for the protocol's own errors, 503 for a call that came at a bad
 * time, 200 for results and for an application's codes, which are no fault of HTTP (basic/index;
 * basic/transports/streamable-http).
 */
export function statusOf(response: RpcResponse): number {
  if (!('error' in response)) return 200
  return retryAfterOf(response) === undefined ? (statuses.get(response.error.code) ?? 200) : 503
}
