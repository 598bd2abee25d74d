import { errorCodes, McpError } from './mcp-error.ts'
import { isJsonObject } from '@x/core'
import { metaKeys } from './meta-keys.ts'
import type { RpcRequest } from './rpc.ts'

const maxShownLength = 100

/**
 * Returns the error for a client that opens with the handshake of an earlier revision, and undefined for any other
 * request. Its user may see nothing but the message (basic/versioning, compatibility).
 */
export function checkClientRevision({ method, params }: RpcRequest): McpError | undefined {
  const requestedVersion = params?.['protocolVersion']
  if (method !== 'initialize' || typeof requestedVersion !== 'string') return undefined
  const meta = params?.['_meta']
  if (isJsonObject(meta) && meta[metaKeys.protocolVersion] !== undefined) return undefined
  return new McpError(
    errorCodes.unsupportedProtocolVersion,
    `this server speaks only MCP ${protocolVersion}; the client opened with ${requestedVersion.slice(0, maxShownLength)}`,
    { data: { supported: [protocolVersion], requested: requestedVersion } },
  )
}

/** The protocol revision of these packages. */
export const protocolVersion = '2026-07-28'

/** The published protocol revisions, oldest first. */
export const protocolVersions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', protocolVersion] as const
