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
import { metaIn } from '@x/schema/internal'
import { isExtensionMethod } from '../../translate/request.ts'
import type { LegacyServerPeer } from '../options.ts'

/** What a request of 2026-07-28 declares for its client. */
export function declaredCapabilitiesOf({ params }: RpcRequest): ClientCapabilities {
  const declaredCapabilities = metaIn(params)[metaKeys.clientCapabilities]
  return isJsonObject(declaredCapabilities) ? declaredCapabilities : {}
}

/** True if a client has declared that a server may ask it. */
export function canBeAsked({ elicitation, sampling, roots }: ClientCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined
}

/** Makes the result of `server/discover` from that of `initialize`. */
export function createDiscoverResult({ info, capabilities, instructions }: LegacyServerPeer): JsonObject {
  return {
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
    // This connection accepts requests of 2026-07-28; its `peer` contains the server's revision.
    supportedVersions: [protocolVersion],
    capabilities,
    ...(instructions !== undefined && { instructions }),
    ...(info !== undefined && { _meta: { [metaKeys.serverInfo]: info } }),
  }
}

/**
 * Why a method is not sent to an older server; undefined if it is sent. Methods of unknown extensions are sent, because
 * only the server knows them all and refuses the rest.
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
