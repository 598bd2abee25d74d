import { errorCodes, type RpcResponse } from '@x/schema'
import { retryAfterHeaders } from './load.ts'

const statuses: ReadonlyMap<number, number> = new Map([
  [errorCodes.parse, 400],
  [errorCodes.invalidRequest, 400],
  [errorCodes.methodNotFound, 404],
  [errorCodes.invalidParams, 400],
  [errorCodes.headerMismatch, 400],
  [errorCodes.missingRequiredClientCapability, 400],
  [errorCodes.unsupportedProtocolVersion, 400],
])

/**
 * Returns the HTTP status of a JSON-RPC response: 400 or 404 for the protocol's errors, 503 for a call that may be retried elsewhere,
 * 429 for one whose caller has reached a quota.
 * Results, codes of an application and internal errors get 200: a client that reads a 500 as a failure of HTTP loses the code
 * (basic/index; basic/transports/streamable-http).
 */
export function statusOf(response: RpcResponse): number {
  if (!('error' in response)) return 200
  return retryAfterHeaders(response)?.status ?? statuses.get(response.error.code) ?? 200
}
