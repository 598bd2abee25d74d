import { errorCodes, type RpcResponse } from '@x/schema'

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
 * The HTTP status of a JSON-RPC response: 400, 404 or 500 for the protocol's own errors, 200 for results and for an
 * application's codes, which are no fault of HTTP (basic/index; basic/transports/streamable-http).
 */
export function statusOf(response: RpcResponse): number {
  return 'error' in response ? (statuses.get(response.error.code) ?? 200) : 200
}
