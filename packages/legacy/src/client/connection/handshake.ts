import { quoteText } from '@x/core'
import {
  errorCodes,
  errorResponse,
  isJsonObject,
  type JsonObject,
  McpError,
  metaKeys,
  type RpcError,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { pickShared } from '../../translate/capabilities.ts'
import { findRevision, type LegacyRevision, legacyRevisions } from '../../translate/revisions.ts'
import { metaIn } from '@x/schema/internal'
import { canBeAsked, declaredCapabilitiesOf } from '../calls/capabilities.ts'
import type { LegacyServerPeer } from '../options.ts'

/** Ends a successful handshake (basic/lifecycle). */
export const initializedNotification: RpcNotification = { jsonrpc: '2.0', method: 'notifications/initialized' }

/**
 * Makes the `initialize` request for the client that sent the given one. It names the first of the revisions. A client
 * that can be asked declares that it returns the `state` of questions (SEP-1685).
 */
export function createInitializeRequest(request: RpcRequest, [firstRevision]: readonly LegacyRevision[]): RpcRequest {
  const info = metaIn(request.params)[metaKeys.clientInfo]
  const declaredCapabilities = declaredCapabilitiesOf(request)
  const { experimental } = declaredCapabilities
  const capabilities: JsonObject = {
    ...pickShared(declaredCapabilities),
    ...(canBeAsked(declaredCapabilities) && { experimental: { ...experimental, requestState: {} } }),
  }
  // Older servers require a client's name, but a client of 2026-07-28 need not send one.
  const clientInfo = isJsonObject(info) ? info : { name: 'unnamed', version: '0' }
  return {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: firstRevision ?? legacyRevisions[0], capabilities, clientInfo },
  }
}

/** Before the handshake is over, a server may only send pings (basic/lifecycle). */
export function answerBeforeHandshake({ id, method }: RpcRequest): RpcResponse {
  if (method === 'ping') return { jsonrpc: '2.0', id, result: {} }
  return errorResponse(id, new McpError(errorCodes.invalidRequest, 'The session has not begun'))
}

/**
 * Reads the response to `initialize` (basic/lifecycle, version negotiation): the server as it describes itself, or the
 * error for the calls that waited for the handshake.
 */
export function parseInitializeResponse(
  response: RpcResponse,
  revisions: readonly LegacyRevision[],
): { readonly peer: Omit<LegacyServerPeer, 'namesCalls'> } | { readonly error: RpcError } {
  if ('error' in response) return { error: response }
  const { protocolVersion: answeredVersion, capabilities, serverInfo, instructions } = response.result
  const revision = findRevision(answeredVersion, revisions)
  if (revision === undefined) {
    const message = `The server speaks ${quoteText(answeredVersion)}, which this client does not`
    const supportedVersions = typeof answeredVersion === 'string' ? [answeredVersion.slice(0, 100)] : []
    const error = new McpError(errorCodes.unsupportedProtocolVersion, message, {
      data: { supported: supportedVersions },
    })
    return { error: errorResponse(response.id, error) }
  }
  const peer: Omit<LegacyServerPeer, 'namesCalls'> = {
    revision,
    info: readServerInfo(serverInfo),
    capabilities: isJsonObject(capabilities) ? pickShared(capabilities) : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
  }
  return { peer }
}

function readServerInfo(info: unknown): LegacyServerPeer['info'] {
  if (!isJsonObject(info) || typeof info['name'] !== 'string' || typeof info['version'] !== 'string') return undefined
  return { ...info, name: info['name'], version: info['version'] }
}
