import { type ServerCapabilities, serverCapabilities } from '../basic/capabilities.ts'
import { type RequestParams, requestParams } from '../basic/meta.ts'
import { jsonrpc, type RequestId, requestId } from '../basic/rpc.ts'
import { cacheableMembers, type CacheableResult } from './caching.ts'
import { list, optional, shape, string, literal } from '../basic/shape.ts'

/**
 * Requests the server's identity and capabilities. Every server answers it, and no client has to send it
 * (server/discover).
 */
export type DiscoverRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'server/discover'
  readonly params: RequestParams
}

/** The shape of {@link DiscoverRequest}. */
export const discoverRequest = shape<DiscoverRequest>({
  jsonrpc,
  id: requestId,
  method: literal('server/discover'),
  params: requestParams,
})

/** The self-description of a server (server/discover). */
export type DiscoverResult = CacheableResult & {
  /** The supported protocol revisions. */
  readonly supportedVersions: readonly string[]
  readonly capabilities: ServerCapabilities
  /** Instructions for a model's use of the server, beyond the tools' descriptions. */
  readonly instructions?: string | undefined
}

/** The shape of {@link DiscoverResult}. */
export const discoverResult = shape<DiscoverResult>({
  ...cacheableMembers,
  supportedVersions: list(string),
  capabilities: serverCapabilities,
  instructions: optional(string),
})

/** The response with a {@link DiscoverResult}. */
export type DiscoverResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: DiscoverResult
}

/** The shape of {@link DiscoverResultResponse}. */
export const discoverResultResponse = shape<DiscoverResultResponse>({ jsonrpc, id: requestId, result: discoverResult })
