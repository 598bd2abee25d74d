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
  type ServerCapabilities,
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

/** The capability without which a method must not be called (basic/lifecycle, operation). */
const requiredCapabilities: Readonly<Record<string, keyof ServerCapabilities>> = {
  'tools/list': 'tools',
  'tools/call': 'tools',
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'completion/complete': 'completions',
}

/** The error of a method that an older server does not have, undefined for one that may be called. */
export function findUnsupportedMethodError(
  { id, method }: RpcRequest,
  { revision, capabilities }: LegacyServerPeer,
): RpcError | undefined {
  const capability = Object.hasOwn(requiredCapabilities, method) ? requiredCapabilities[method] : undefined
  if (capability === undefined) {
    // A method of an extension: the server knows whether it has it.
    if (capabilities.extensions !== undefined && findMethodRow(method) === undefined) return undefined
    return errorResponse(
      id,
      new McpError(errorCodes.methodNotFound, `${method} does not exist in revision ${revision}`),
    )
  }
  // Revision 2025-03-26 has the method, and not all servers declare the capability that it introduced.
  if (capabilities[capability] !== undefined || capability === 'completions') return undefined
  return errorResponse(
    id,
    new McpError(errorCodes.methodNotFound, `The server does not have the capability ${capability}`),
  )
}
