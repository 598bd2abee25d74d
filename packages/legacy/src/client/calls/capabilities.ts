import {
  type ClientCapabilities,
  errorCodes,
  errorResponse,
  findMethodRow,
  isJsonObject,
  type JsonObject,
  McpError,
  metaKeys,
  protocolVersion,
  type RpcError,
  type RpcRequest,
} from '@x/schema'
import { metaIn } from '../../translate/request.ts'
import type { LegacyServerPeer } from '../options.ts'

/** Returns the client capabilities that a request of 2026-07-28 declares. */
export function declaredCapabilitiesOf({ params }: RpcRequest): ClientCapabilities {
  const declaredCapabilities = metaIn(params)[metaKeys.clientCapabilities]
  return isJsonObject(declaredCapabilities) ? declaredCapabilities : {}
}

/** Creates the result of `server/discover` from the result of `initialize`. */
export function createDiscoverResult({ info, capabilities, instructions }: LegacyServerPeer): JsonObject {
  return {
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
    // The connection accepts requests of 2026-07-28. Its `peer` contains the revision of the server.
    supportedVersions: [protocolVersion],
    capabilities,
    ...(instructions !== undefined && { instructions }),
    ...(info !== undefined && { _meta: { [metaKeys.serverInfo]: info } }),
  }
}

/** Returns the error for a method that an older server does not support. Undefined if the method may be called. */
export function findUnsupportedMethodError(
  { id, method }: RpcRequest,
  { revision, capabilities }: LegacyServerPeer,
): RpcError | undefined {
  const row = findMethodRow(method)
  // The method may belong to an extension. A server without that extension rejects the method itself.
  if (row === undefined && capabilities.extensions !== undefined) return undefined
  const message =
    row?.capability === undefined
      ? `${method} does not exist in revision ${revision}`
      : `The server does not have the capability ${row.capability}`
  // Completions may always be called. Revision 2025-03-26 introduced their capability, and not all servers declare it.
  if (row?.capability === 'completions') return undefined
  // basic/lifecycle, operation: a method must not be called without its capability.
  if (row?.capability !== undefined && capabilities[row.capability] !== undefined) return undefined
  return errorResponse(id, new McpError(errorCodes.methodNotFound, message))
}
