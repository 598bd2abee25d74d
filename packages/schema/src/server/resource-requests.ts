import type { RequestMetaObject } from '../basic/meta.ts'
import type { RequestId } from '../basic/rpc.ts'
import type { InputRequiredResult, InputResponseRequestParams } from '../patterns/mrtr.ts'
import type { CacheableResult } from './caching.ts'
import type { Cursor, PaginatedRequestParams } from './pagination.ts'
import type { BlobResourceContents, Resource, ResourceTemplate, TextResourceContents } from './resources.ts'

/** Requests a page of the server's resources (server/resources, listing resources). */
export type ListResourcesRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'resources/list'
  readonly params: PaginatedRequestParams
}

/** A page of the server's resources (server/resources, listing resources). */
export type ListResourcesResult = CacheableResult & {
  readonly resources: readonly Resource[]
  /** The cursor of the next page; absent on the last. */
  readonly nextCursor?: Cursor | undefined
}

/** The response with a {@link ListResourcesResult}. */
export type ListResourcesResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListResourcesResult
}

/** Requests a page of the server's resource templates (server/resources, resource templates). */
export type ListResourceTemplatesRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'resources/templates/list'
  readonly params: PaginatedRequestParams
}

/** A page of the server's resource templates (server/resources, resource templates). */
export type ListResourceTemplatesResult = CacheableResult & {
  readonly resourceTemplates: readonly ResourceTemplate[]
  /** The cursor of the next page; absent on the last. */
  readonly nextCursor?: Cursor | undefined
}

/** The response with a {@link ListResourceTemplatesResult}. */
export type ListResourceTemplatesResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListResourceTemplatesResult
}

/** The params of a request about one resource (server/resources). */
export type ResourceRequestParams = {
  readonly _meta: RequestMetaObject
  /** The URI, of any scheme; its meaning is the server's. */
  readonly uri: string
}

/** The URI of the resource to read (server/resources, reading resources). */
export type ReadResourceRequestParams = ResourceRequestParams & InputResponseRequestParams

/** Requests the contents of a resource (server/resources, reading resources). */
export type ReadResourceRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'resources/read'
  readonly params: ReadResourceRequestParams
}

/** The contents of a resource, which may have parts (server/resources, reading resources). */
export type ReadResourceResult = CacheableResult & {
  readonly contents: readonly (TextResourceContents | BlobResourceContents)[]
}

/** The response with a {@link ReadResourceResult}, or a request for input. */
export type ReadResourceResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | ReadResourceResult
}
