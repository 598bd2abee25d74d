import { createCall, type OlderRequest, olderRequestKey, withContext } from '@x/exchange'
import {
  errorCodes,
  errorResponse,
  isJsonObject,
  type JsonObject,
  McpError,
  metaKeys,
  type RpcRequest,
  type RpcResponse,
  type ServerCapabilities,
} from '@x/schema'
import { type LegacyRevision, findRevision, legacyRevisions } from '../../translate/revisions.ts'
import { pickShared, toClientCapabilities, toLegacyImplementation } from '../../translate/capabilities.ts'
import { toLegacyFailure } from '../../translate/error.ts'
import { createClientMeta, type LegacyClient } from '../../translate/request.ts'
import type { Caller, Deps } from './deps.ts'
import { readImplementation } from './session.ts'

/**
 * Answers `initialize` from the server's response to `server/discover` (basic/lifecycle). A client that requests a
 * revision that is not served gets the newest older one that is.
 */
export async function answerInitialize(
  request: RpcRequest,
  caller: Caller,
  deps: Deps,
): Promise<{ readonly client: LegacyClient; readonly response: RpcResponse } | { readonly error: RpcResponse }> {
  const { id, params = {} } = request
  const { protocolVersion: requestedVersion, capabilities, clientInfo } = params
  if (typeof requestedVersion !== 'string' || !isJsonObject(capabilities)) {
    const message = 'initialize needs params with protocolVersion, capabilities and clientInfo'
    return { error: errorResponse(id, new McpError(errorCodes.invalidParams, message)) }
  }
  const { revisions } = deps.settings
  const revision = findRevision(requestedVersion, revisions) ?? revisions[0] ?? legacyRevisions[0]
  const info = readImplementation(clientInfo)
  const client = { revision, info, capabilities: toClientCapabilities(capabilities) }
  const discoverResponse = await requestDiscovery({ client, method: request.method }, caller, deps)
  if ('error' in discoverResponse)
    return { error: { jsonrpc: '2.0', id, ...toLegacyFailure(discoverResponse.error, request.method) } }
  const result = createInitializeResult(discoverResponse.result, revision, deps)
  return { client, response: { jsonrpc: '2.0', id, result } }
}

function createInitializeResult(
  { _meta, instructions, ...discovery }: JsonObject,
  revision: LegacyRevision,
  deps: Deps,
): JsonObject {
  const discoveredServerInfo = isJsonObject(_meta) ? _meta[metaKeys.serverInfo] : undefined
  return {
    protocolVersion: revision,
    capabilities: pickShared(parseCapabilities(discovery)),
    serverInfo: toLegacyImplementation(
      isJsonObject(discoveredServerInfo) ? discoveredServerInfo : deps.serverInfo,
      revision,
    ),
    ...(instructions !== undefined && { instructions }),
  }
}

/** Sends `server/discover` to the server on behalf of a client. */
export async function requestDiscovery(
  { client, method }: { readonly client: LegacyClient } & Pick<OlderRequest, 'method'>,
  { principal, context }: Caller,
  { exchange, reportError }: Deps,
): Promise<RpcResponse> {
  const request: RpcRequest = {
    jsonrpc: '2.0',
    id: 'discover',
    method: 'server/discover',
    params: { _meta: createClientMeta(client) },
  }
  try {
    const call = withContext(createCall({ principal, context }), olderRequestKey, { revision: client.revision, method })
    return await exchange(request, call)
  } catch (error) {
    reportError(error)
    return errorResponse(request.id, error)
  }
}

/** Reads a result of `server/discover`. */
export function parseCapabilities({ capabilities }: JsonObject): ServerCapabilities {
  return isJsonObject(capabilities) ? capabilities : {}
}
