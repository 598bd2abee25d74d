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
import { legacyRevisions } from '../../translate/revisions.ts'
import { metaIn } from '../../translate/request.ts'

/** The era of a server: `modern` is 2026-07-28, and `legacy` are the older revisions. */
export type ProtocolEra = 'modern' | 'legacy'

/**
 * Returns the era of a server from its response to `server/discover` (basic/versioning, backward compatibility).
 * Servers of older revisions respond with errors of many codes, so an error shows a modern server only if 2026-07-28
 * defines the error.
 */
export function eraOf(response: RpcResponse): ProtocolEra {
  if ('result' in response) {
    const { supportedVersions } = response.result
    return Array.isArray(supportedVersions) ? eraOfVersions(supportedVersions) : 'legacy'
  }
  const versions = supportedVersionsIn(response.error)
  if (versions !== undefined) return eraOfVersions(versions)
  const isModern = response.error.code === errorCodes.unsupportedProtocolVersion || supportsDiscover(response)
  return isModern ? 'modern' : 'legacy'
}

/**
 * Returns true if an error response to `initialize` says that the server has revision 2026-07-28. Its response to
 * `server/discover` was then an error of something else, such as the upstream of a proxy.
 */
export function namesModernRevision({ error }: RpcError): boolean {
  return supportedVersionsIn(error)?.includes(protocolVersion) === true
}

/** Returns the versions that an error for an unsupported version lists. Undefined for any other error. */
function supportedVersionsIn({ code, data }: WireError): readonly JsonValue[] | undefined {
  const supported = code === errorCodes.unsupportedProtocolVersion && isJsonObject(data) ? data['supported'] : undefined
  return Array.isArray(supported) ? supported : undefined
}

function eraOfVersions(versions: readonly JsonValue[]): ProtocolEra {
  if (versions.includes(protocolVersion)) return 'modern'
  return versions.some((version) => legacyRevisions.some((legacyRevision) => legacyRevision === version))
    ? 'legacy'
    : 'modern'
}

/** Creates a `server/discover` request that describes the client as the given request does. */
export function createDiscoverRequest({ params }: RpcRequest): RpcRequest {
  // No other request of a connection has this id, because the response may arrive after later requests were sent.
  return {
    ...discoverProbe,
    id: 'server/discover',
    params: { _meta: { ...metaIn(discoverProbe.params), ...metaIn(params) } },
  }
}

/** Returns the era of a revision. Undefined for an unknown revision. */
export function eraOfRevision(revision: string | undefined): ProtocolEra | undefined {
  if (revision === undefined) return undefined
  if (revision === protocolVersion) return 'modern'
  return legacyRevisions.some((legacyRevision) => legacyRevision === revision) ? 'legacy' : undefined
}
