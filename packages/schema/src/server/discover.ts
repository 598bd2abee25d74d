import { type ServerCapabilities, serverCapabilities } from '../basic/capabilities.ts'
import { cacheableMembers, type CacheableResult } from './caching.ts'
import { list, optional, type Shape, shape, string } from '../basic/shape.ts'

/** A server's description of itself (server/discover). */
export type DiscoverResult = CacheableResult & {
  /** The supported protocol revisions. */
  readonly supportedVersions: readonly string[]
  readonly capabilities: ServerCapabilities
  /** Instructions for the model on the use of the server. They add to the descriptions of the tools. */
  readonly instructions?: string | undefined
}

/** The shape of {@link DiscoverResult}. */
export const discoverResult: Shape<DiscoverResult> = shape<DiscoverResult>({
  ...cacheableMembers,
  supportedVersions: list(string),
  capabilities: serverCapabilities,
  instructions: optional(string),
})
