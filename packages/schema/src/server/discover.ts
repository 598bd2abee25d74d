import type { ServerCapabilities } from '../basic/capabilities.ts'
import type { RequestParams } from '../basic/meta.ts'
import type { RequestId } from '../basic/rpc.ts'
import type { CacheableResult } from './caching.ts'

/** Asks a server what it is and can do; every server answers it, no client has to ask (server/discover). */
export type DiscoverRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'server/discover'
  readonly params: RequestParams
}

/** What a server says of itself (server/discover). */
export type DiscoverResult = CacheableResult & {
  /** The revisions that requests may be written in. */
  readonly supportedVersions: readonly string[]
  readonly capabilities: ServerCapabilities
  /** How a model makes good use of the server, beyond what the tools' descriptions say. */
  readonly instructions?: string | undefined
}

/** The response that brings a {@link DiscoverResult}. */
export type DiscoverResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: DiscoverResult
}
