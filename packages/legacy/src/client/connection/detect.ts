import {
  discoverProbe,
  errorCodes,
  isJsonObject,
  type JsonValue,
  supportsDiscover,
  protocolVersion,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { legacyRevisions } from '../../translate/revisions.ts'
import { metaIn } from '../../translate/request.ts'

/** The era of a server. */
export type ProtocolEra = 'modern' | 'legacy'

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
  return supportsDiscover(response) ? 'modern' : 'legacy'
}

function eraOfVersions(versions: readonly JsonValue[]): ProtocolEra {
  if (versions.includes(protocolVersion)) return 'modern'
  return versions.some((version) => legacyRevisions.some((legacyRevision) => legacyRevision === version))
    ? 'legacy'
    : 'modern'
}

/** A `server/discover` with what a request says of its client. */
export function createDiscoverRequest({ params }: RpcRequest): RpcRequest {
  // No other request of a connection has this id, so that its answer may come after others were sent.
  return {
    ...discoverProbe,
    id: 'server/discover',
    params: { _meta: { ...metaIn(discoverProbe.params), ...metaIn(params) } },
  }
}

/** The era that a remembered revision belongs to. */
export function eraOfRevision(revision: string | undefined): ProtocolEra | undefined {
  if (revision === undefined) return undefined
  if (revision === protocolVersion) return 'modern'
  return legacyRevisions.some((legacyRevision) => legacyRevision === revision) ? 'legacy' : undefined
}
