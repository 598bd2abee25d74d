import type { ServerCapabilities } from '../basic/capabilities.ts'
import type { RequestParams } from '../basic/meta.ts'
import type { RequestId } from '../basic/rpc.ts'
import type { CacheableResult } from './caching.ts'

/**
 * Requests the server's identity and capabilities; every server answers it, and no client has to send it
 * (server/discover).
 */
export type DiscoverRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'server/discover'
  readonly params: RequestParams
}

/** The self-description of a server (server/discover). */
export type DiscoverResult = CacheableResult & {
  /** The supported protocol revisions. */
  readonly supportedVersions: readonly string[]
  readonly capabilities: ServerCapabilities
  /** Instructions for a model's use of the server, beyond the tools' descriptions. */
  readonly instructions?: string | undefined
}

/** The response with a {@link DiscoverResult}. */
export type DiscoverResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: DiscoverResult
}
