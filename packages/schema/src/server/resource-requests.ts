import type { RequestMetaObject } from '../basic/meta.ts'
import type { RequestId } from '../basic/rpc.ts'
import type { InputRequiredResult, InputResponseRequestParams } from '../patterns/mrtr.ts'
import type { CacheableResult } from './caching.ts'
import type { Cursor, PaginatedRequestParams } from './pagination.ts'
import type { BlobResourceContents, Resource, ResourceTemplate, TextResourceContents } from './resources.ts'

/** Asks for a page of the server's resources (server/resources, listing resources). */
export type ListResourcesRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'resources/list'
  readonly params: PaginatedRequestParams
}

/** A page of the server's resources (server/resources, listing resources). */
export type ListResourcesResult = CacheableResult & {
  readonly resources: readonly Resource[]
  /** Asks for the next page; absent on the last. */
  readonly nextCursor?: Cursor | undefined
}

/** The response that brings a {@link ListResourcesResult}. */
export type ListResourcesResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListResourcesResult
}

/** Asks for a page of the server's resource templates (server/resources, resource templates). */
export type ListResourceTemplatesRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'resources/templates/list'
  readonly params: PaginatedRequestParams
}

/** A page of the server's resource templates (server/resources, resource templates). */
export type ListResourceTemplatesResult = CacheableResult & {
  readonly resourceTemplates: readonly ResourceTemplate[]
  /** Asks for the next page; absent on the last. */
  readonly nextCursor?: Cursor | undefined
}

/** The response that brings a {@link ListResourceTemplatesResult}. */
export type ListResourceTemplatesResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListResourceTemplatesResult
}

/** The params of a request about one resource (server/resources). */
export type ResourceRequestParams = {
  readonly _meta: RequestMetaObject
  /** Of any scheme: the server decides what it means. */
  readonly uri: string
}

/** Which resource to read (server/resources, reading resources). */
export type ReadResourceRequestParams = ResourceRequestParams & InputResponseRequestParams

/** Asks for the contents of a resource (server/resources, reading resources). */
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

/** The response that brings a {@link ReadResourceResult}, or asks for input first. */
export type ReadResourceResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | ReadResourceResult
}
