import { isJsonObject } from '@x/core'
import {
  errorCodes,
  McpError,
  metaKeys,
  protocolVersion,
  protocolVersions,
  type RequestMetaObject,
  requestMetaOf,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'

const maxShownLength = 100

/**
 * Error for a client that begins with the handshake of an earlier revision; undefined for any other request. Its user
 * may see only the error's message (basic/versioning, compatibility). `supportedVersions` are those of the server.
 */
export function findRevisionError(
  { method, params }: RpcRequest,
  supportedVersions: readonly string[] = [protocolVersion],
): McpError | undefined {
  const requestedVersion = params?.['protocolVersion']
  if (method !== 'initialize' || typeof requestedVersion !== 'string') return undefined
  const meta = params?.['_meta']
  if (isJsonObject(meta) && meta[metaKeys.protocolVersion] !== undefined) return undefined
  return new McpError(
    errorCodes.unsupportedProtocolVersion,
    `this server speaks only MCP ${supportedVersions.join(', ')}; the client opened with ${requestedVersion.slice(0, maxShownLength)}`,
    { data: { supported: supportedVersions, requested: requestedVersion } },
  )
}

/**
 * Reads the `_meta` of a request of this revision (basic/versioning, negotiation).
 *
 * @throws McpError `unsupportedProtocolVersion` for a request of any other.
 */
export function readRequestMeta({ params }: RpcRequest): RequestMetaObject {
  const meta = requestMetaOf(params)
  const requested = meta[metaKeys.protocolVersion]
  if (requested === protocolVersion) return meta
  const message = `Unsupported protocol version: this server speaks ${protocolVersion}`
  const data = { supported: [protocolVersion], requested }
  throw new McpError(errorCodes.unsupportedProtocolVersion, message, { data })
}

const [, ...olderVersions] = [...protocolVersions].toReversed()
const [lastOlderVersion] = olderVersions

const modernErrorCodes: ReadonlySet<number> = new Set([
  errorCodes.unsupportedProtocolVersion,
  errorCodes.headerMismatch,
  errorCodes.missingRequiredClientCapability,
])

/** `server/discover` without client info and capabilities. */
export const discoverProbe: RpcRequest = {
  jsonrpc: '2.0',
  id: 0,
  method: 'server/discover',
  params: { _meta: { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {} } },
}

/**
 * True if the response comes from a server that has this method, and so is of this or a later revision. Servers of
 * earlier revisions answer with various error codes (basic/versioning, backward compatibility).
 */
export function supportsDiscover(response: RpcResponse): boolean {
  if ('result' in response) return Array.isArray(response.result['supportedVersions'])
  const { code, data } = response.error
  // An overloaded or stopping server rejects a request before it reads the method. Such an error has `retryAfterMs`.
  return modernErrorCodes.has(code) || (isJsonObject(data) && typeof data['retryAfterMs'] === 'number')
}

/** `initialize` of the last revision before this one. A server of any earlier revision answers it with its own. */
export const olderInitializeRequest: RpcRequest = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: lastOlderVersion ?? protocolVersion,
    capabilities: {},
    clientInfo: { name: 'version-check', version: '1.0.0' },
  },
}

/** Reads the earlier revision from a response to {@link olderInitializeRequest}. Undefined for other responses. */
export function olderRevisionIn(response: RpcResponse): string | undefined {
  const namedRevision = 'result' in response ? response.result['protocolVersion'] : undefined
  return olderVersions.find((version) => version === namedRevision)
}

/** Message for the user of a client whose server supports only earlier revisions. */
export function olderServerMessage(revision: string | undefined): string {
  const revisionText = revision ?? 'one of an earlier revision'
  return `this client speaks only MCP ${protocolVersion}; the server answered as ${revisionText}`
}
