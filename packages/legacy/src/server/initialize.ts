import {
  createCall,
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
import { type LegacyRevision, revisionNamed } from '../revisions.ts'
import { clientCapabilities, implementationFor, serverCapabilities } from '../translate/capabilities.ts'
import { legacyError } from '../translate/error.ts'
import { clientMeta, type LegacyClient } from '../translate/request.ts'
import type { Caller } from './call-channel.ts'
import type { Deps } from './deps.ts'
import { readInfo } from './session.ts'

/** A client that has introduced itself, and what it is answered. */
export interface InitializedClient {
  readonly client: LegacyClient
  readonly response: RpcResponse
}

/**
 * Answers `initialize` from what the server says in `server/discover` (basic/lifecycle). A revision that is not served is answered
 * with the newest older one.
 */
export async function initialize(
  request: RpcRequest,
  caller: Caller,
  deps: Deps,
): Promise<InitializedClient | { readonly error: RpcResponse }> {
  const { id, params = {} } = request
  const { protocolVersion: requested, capabilities, clientInfo } = params
  if (typeof requested !== 'string' || !isJsonObject(capabilities)) {
    const message = 'initialize needs params with protocolVersion, capabilities and clientInfo'
    return { error: errorResponse(id, new McpError(errorCodes.invalidParams, message)) }
  }
  const revision = revisionNamed(requested, deps.settings.revisions) ?? newest(deps.settings.revisions)
  const info = readInfo(clientInfo)
  const client = { revision, info, capabilities: clientCapabilities(capabilities, revision) }
  const discovered = await requestDiscovery(client, caller, deps)
  if ('error' in discovered) return { error: { jsonrpc: '2.0', id, ...legacyError(discovered.error, request.method) } }
  const result = describeClient(discovered.result, revision, deps)
  return { client, response: { jsonrpc: '2.0', id, result } }
}

function newest([first = '2025-11-25']: readonly LegacyRevision[]): LegacyRevision {
  return first
}

function describeClient(
  { _meta, instructions, ...discovery }: JsonObject,
  revision: LegacyRevision,
  deps: Deps,
): JsonObject {
  const named = isJsonObject(_meta) ? _meta[metaKeys.serverInfo] : undefined
  return {
    protocolVersion: revision,
    capabilities: serverCapabilities(capabilitiesIn(discovery)),
    serverInfo: implementationFor(isJsonObject(named) ? named : deps.info, revision),
    ...(instructions !== undefined && { instructions }),
  }
}

/** Asks the server what it is and has, on behalf of a client. */
export async function requestDiscovery(
  client: LegacyClient,
  { principal, context }: Caller,
  { exchange, report }: Deps,
): Promise<RpcResponse> {
  const request: RpcRequest = {
    jsonrpc: '2.0',
    id: 'discover',
    method: 'server/discover',
    params: { _meta: clientMeta(client) },
  }
  try {
    return await exchange(request, createCall({ principal, context }))
  } catch (error) {
    report(error)
    return errorResponse(request.id, error)
  }
}

/** The capabilities in a discovery. */
export function capabilitiesIn({ capabilities }: JsonObject): ServerCapabilities {
  return isJsonObject(capabilities) ? capabilities : {}
}
