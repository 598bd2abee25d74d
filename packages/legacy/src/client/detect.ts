import {
  errorCodes,
  isJsonObject,
  type JsonValue,
  metaKeys,
  protocolVersion,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { legacyRevisions } from '../revisions.ts'
import { metaIn } from '../translate/request.ts'

/** The era of a server. */
export type ProtocolEra = 'modern' | 'legacy'

const modernErrorCodes: ReadonlySet<number> = new Set([
  errorCodes.headerMismatch,
  errorCodes.missingRequiredClientCapability,
])

/**
 * The era that an answer to `server/discover` shows (basic/versioning, backward compatibility). Servers of older
 * revisions answer it with errors of many codes, so only an error that this revision defines speaks for a modern one.
 */
export function eraOf(response: RpcResponse): ProtocolEra {
  if ('result' in response) {
    const { supportedVersions } = response.result
    return Array.isArray(supportedVersions) ? eraOfVersions(supportedVersions) : 'legacy'
  }
  const { code, data } = response.error
  if (code === errorCodes.unsupportedProtocolVersion) {
    return isJsonObject(data) && Array.isArray(data['supported']) ? eraOfVersions(data['supported']) : 'modern'
  }
  return modernErrorCodes.has(code) || hasRetryDelay(data) ? 'modern' : 'legacy'
}

function eraOfVersions(versions: readonly JsonValue[]): ProtocolEra {
  if (versions.includes(protocolVersion)) return 'modern'
  return versions.some((version) => legacyRevisions.some((legacyRevision) => legacyRevision === version))
    ? 'legacy'
    : 'modern'
}

// A server of these packages that is overloaded or stops says so before it looks at the request.
function hasRetryDelay(data: JsonValue | undefined): boolean {
  return isJsonObject(data) && typeof data['retryAfterMs'] === 'number'
}

const undecidedStatuses: ReadonlySet<number> = new Set([401, 403, 407, 408, 429])

/**
 * Returns true when an HTTP status says nothing of the server's era: it is about authorization, limits, or a failure
 * (LEG-084).
 */
export function isUndecidedStatus(status: number): boolean {
  return undecidedStatuses.has(status) || status >= 500
}

/** A `server/discover` with what a request says of its client. */
export function createDiscoverRequest({ id, params }: RpcRequest): RpcRequest {
  const defaultMeta = { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {} }
  const _meta = { ...defaultMeta, ...metaIn(params) }
  return { jsonrpc: '2.0', id, method: 'server/discover', params: { _meta } }
}

/** The era that a remembered revision belongs to. */
export function eraOfRevision(revision: string | undefined): ProtocolEra | undefined {
  if (revision === undefined) return undefined
  if (revision === protocolVersion) return 'modern'
  return legacyRevisions.some((legacyRevision) => legacyRevision === revision) ? 'legacy' : undefined
}
