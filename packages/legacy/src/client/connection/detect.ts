import {
  errorCodes,
  isJsonObject,
  type JsonValue,
  protocolVersion,
  type RpcError,
  type RpcRequest,
  type RpcResponse,
  type WireError,
} from '@x/schema'
import { discoverProbe, supportsDiscover } from '@x/exchange/internal'
import { findRevision, legacyRevisions } from '../../translate/revisions.ts'
import { metaIn } from '@x/schema/internal'

/** What the first request must know of the server's revision. */
export type ServerRevision = '2026-07-28' | 'older'

/**
 * Reads the revision from the response to `server/discover` (basic/versioning, backward compatibility). Servers of
 * older revisions respond with errors of many codes, so an error shows a modern server only if 2026-07-28 defines it.
 */
export function revisionOf(response: RpcResponse): ServerRevision {
  if ('result' in response) {
    const { supportedVersions } = response.result
    return Array.isArray(supportedVersions) ? revisionOfVersions(supportedVersions) : 'older'
  }
  const versions = supportedVersionsIn(response.error)
  if (versions !== undefined) return revisionOfVersions(versions)
  const isModern = response.error.code === errorCodes.unsupportedProtocolVersion || supportsDiscover(response)
  return isModern ? '2026-07-28' : 'older'
}

/**
 * True if an error response to `initialize` says that the server has revision 2026-07-28. Its response to
 * `server/discover` was then an error of something else, such as a proxy's upstream.
 */
export function namesModernRevision({ error }: RpcError): boolean {
  return supportedVersionsIn(error)?.includes(protocolVersion) === true
}

function supportedVersionsIn({ code, data }: WireError): readonly JsonValue[] | undefined {
  const supported = code === errorCodes.unsupportedProtocolVersion && isJsonObject(data) ? data['supported'] : undefined
  return Array.isArray(supported) ? supported : undefined
}

function revisionOfVersions(versions: readonly JsonValue[]): ServerRevision {
  if (versions.includes(protocolVersion)) return '2026-07-28'
  return versions.some((version) => findRevision(version, legacyRevisions)) ? 'older' : '2026-07-28'
}

/** Describes the client as the given request does. */
export function createDiscoverRequest({ params }: RpcRequest): RpcRequest {
  // No other request of a connection has this id, because the response may arrive after later requests were sent.
  return {
    ...discoverProbe,
    id: 'server/discover',
    params: { _meta: { ...metaIn(discoverProbe.params), ...metaIn(params) } },
  }
}

/** Undefined for an unknown revision. */
export function knownRevisionOf(revision: string | undefined): ServerRevision | undefined {
  if (revision === protocolVersion) return '2026-07-28'
  return findRevision(revision, legacyRevisions) && 'older'
}
