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
import { notSentReason } from '@x/exchange/internal'
import { isSentUndeclared, isTaskMessage } from '../../translate/capabilities.ts'
import { isExtensionMethod, metaIn } from '../../translate/request.ts'
import type { LegacyServerPeer } from '../options.ts'

/** Returns the client capabilities that a request of 2026-07-28 declares. */
export function declaredCapabilitiesOf({ params }: RpcRequest): ClientCapabilities {
  const declaredCapabilities = metaIn(params)[metaKeys.clientCapabilities]
  return isJsonObject(declaredCapabilities) ? declaredCapabilities : {}
}

/** Returns true if a client has declared that a server may ask it. */
export function canBeAsked({ elicitation, sampling, roots }: ClientCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined
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

/**
 * Returns the error for a method that is not sent to an older server. Undefined if it is sent: a server refuses the
 * methods of extensions that it does not know, and only the server knows them all.
 */
export function findUnsentMethodError(
  { id, method }: RpcRequest,
  { revision, capabilities }: LegacyServerPeer,
): RpcError | undefined {
  if (isExtensionMethod(method)) return undefined
  if (isTaskMessage(method)) return notSentError(id, `${method} needs a server of revision ${protocolVersion}`)
  const row = findMethodRow(method)
  const capability = row?.capability
  if (capability === undefined)
    return notSentError(id, `${method} does not exist in revision ${row ? revision : protocolVersion}`)
  // basic/lifecycle, operation: a method must not be called without its capability.
  if (capabilities[capability] !== undefined || isSentUndeclared(capability)) return undefined
  return notSentError(id, `the server does not have the capability ${capability}`)
}

function notSentError(id: RpcRequest['id'], reason: string): RpcError {
  const data = { reason: notSentReason }
  return errorResponse(id, new McpError(errorCodes.methodNotFound, `not sent, because ${reason}`, { data }))
}
