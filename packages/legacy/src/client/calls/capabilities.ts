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

/** The capabilities that a request of 2026-07-28 declares. */
export function declaredCapabilitiesOf({ params }: RpcRequest): ClientCapabilities {
  const declaredCapabilities = metaIn(params)[metaKeys.clientCapabilities]
  return isJsonObject(declaredCapabilities) ? declaredCapabilities : {}
}

/** The answer to `server/discover` in the place of a server that was asked to `initialize`. */
export function createDiscoverResult({ info, capabilities, instructions }: LegacyServerPeer): JsonObject {
  return {
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
    // Requests of 2026-07-28 are what the connection takes. Its `peer` names the revision behind it.
    supportedVersions: [protocolVersion],
    capabilities,
    ...(instructions !== undefined && { instructions }),
    ...(info !== undefined && { _meta: { [metaKeys.serverInfo]: info } }),
  }
}

/** The error of a method that an older server does not have, undefined for one that may be called. */
export function findUnsupportedMethodError(
  { id, method }: RpcRequest,
  { revision, capabilities }: LegacyServerPeer,
): RpcError | undefined {
  const row = findMethodRow(method)
  // A method of an extension: the server knows whether it has it.
  if (row === undefined && capabilities.extensions !== undefined) return undefined
  const message =
    row?.capability === undefined
      ? `${method} does not exist in revision ${revision}`
      : `The server does not have the capability ${row.capability}`
  // Revision 2025-03-26 has completions, and not all servers declare the capability that it introduced.
  if (row?.capability === 'completions') return undefined
  // basic/lifecycle, operation: a method must not be called without its capability.
  if (row?.capability !== undefined && capabilities[row.capability] !== undefined) return undefined
  return errorResponse(id, new McpError(errorCodes.methodNotFound, message))
}
