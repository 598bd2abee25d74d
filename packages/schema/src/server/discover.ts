import { type ServerCapabilities, serverCapabilities } from '../basic/capabilities.ts'
import { cacheableMembers, type CacheableResult } from './caching.ts'
import { list, optional, type Shape, shape, string } from '../basic/shape.ts'

/** How a server describes itself (server/discover). */
export type DiscoverResult = CacheableResult & {
  /** Supported protocol revisions. */
  readonly supportedVersions: readonly string[]
  readonly capabilities: ServerCapabilities
  /** Instructs the model how to use the server, beyond the descriptions of the tools. */
  readonly instructions?: string | undefined
}

export const discoverResult: Shape<DiscoverResult> = shape<DiscoverResult>({
  ...cacheableMembers,
  supportedVersions: list(string),
  capabilities: serverCapabilities,
  instructions: optional(string),
})
