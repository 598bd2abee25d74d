import { type RequestMetaObject, requestMetaObject } from '../basic/meta.ts'
import { jsonrpc, type RequestId, requestId } from '../basic/rpc.ts'
import {
  type InputRequiredResult,
  inputRequiredResult,
  inputResponseMembers,
  type InputResponseRequestParams,
} from '../patterns/mrtr.ts'
import { cacheableMembers, type CacheableResult } from './caching.ts'
import { type Cursor, pageMembers, type PaginatedRequestParams, paginatedRequestParams } from './pagination.ts'
import {
  type BlobResourceContents,
  readableContents,
  type Resource,
  resource,
  type ResourceTemplate,
  resourceTemplate,
  type TextResourceContents,
} from './resources.ts'
import { list, shape, string, union, literal } from '../basic/shape.ts'

/** Requests a page of the server's resources (server/resources, listing resources). */
export type ListResourcesRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'resources/list'
  readonly params: PaginatedRequestParams
}

/** The shape of {@link ListResourcesRequest}. */
export const listResourcesRequest = shape<ListResourcesRequest>({
  jsonrpc,
  id: requestId,
  method: literal('resources/list'),
  params: paginatedRequestParams,
})

/** A page of the server's resources (server/resources, listing resources). */
export type ListResourcesResult = CacheableResult & {
  readonly resources: readonly Resource[]
  /** The cursor of the next page, absent on the last. */
  readonly nextCursor?: Cursor | undefined
}

/** The shape of {@link ListResourcesResult}. */
export const listResourcesResult = shape<ListResourcesResult>({ ...pageMembers, resources: list(resource) })

/** The response with a {@link ListResourcesResult}. */
export type ListResourcesResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListResourcesResult
}

/** The shape of {@link ListResourcesResultResponse}. */
export const listResourcesResultResponse = shape<ListResourcesResultResponse>({
  jsonrpc,
  id: requestId,
  result: listResourcesResult,
})

/** Requests a page of the server's resource templates (server/resources, resource templates). */
export type ListResourceTemplatesRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'resources/templates/list'
  readonly params: PaginatedRequestParams
}

/** The shape of {@link ListResourceTemplatesRequest}. */
export const listResourceTemplatesRequest = shape<ListResourceTemplatesRequest>({
  jsonrpc,
  id: requestId,
  method: literal('resources/templates/list'),
  params: paginatedRequestParams,
})

/** A page of the server's resource templates (server/resources, resource templates). */
export type ListResourceTemplatesResult = CacheableResult & {
  readonly resourceTemplates: readonly ResourceTemplate[]
  /** The cursor of the next page, absent on the last. */
  readonly nextCursor?: Cursor | undefined
}

/** The shape of {@link ListResourceTemplatesResult}. */
export const listResourceTemplatesResult = shape<ListResourceTemplatesResult>({
  ...pageMembers,
  resourceTemplates: list(resourceTemplate),
})

/** The response with a {@link ListResourceTemplatesResult}. */
export type ListResourceTemplatesResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: ListResourceTemplatesResult
}

/** The shape of {@link ListResourceTemplatesResultResponse}. */
export const listResourceTemplatesResultResponse = shape<ListResourceTemplatesResultResponse>({
  jsonrpc,
  id: requestId,
  result: listResourceTemplatesResult,
})

/** The params of a request about one resource (server/resources). */
export type ResourceRequestParams = {
  readonly _meta: RequestMetaObject
  /** The URI, of any scheme. Its meaning is the server's. */
  readonly uri: string
}

/** The shape of {@link ResourceRequestParams}. */
export const resourceRequestParams = shape<ResourceRequestParams>({ _meta: requestMetaObject, uri: string })

/** The URI of the resource to read (server/resources, reading resources). */
export type ReadResourceRequestParams = ResourceRequestParams & InputResponseRequestParams

/** The shape of {@link ReadResourceRequestParams}. */
export const readResourceRequestParams = shape<ReadResourceRequestParams>({ ...inputResponseMembers, uri: string })

/** Requests the contents of a resource (server/resources, reading resources). */
export type ReadResourceRequest = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly method: 'resources/read'
  readonly params: ReadResourceRequestParams
}

/** The shape of {@link ReadResourceRequest}. */
export const readResourceRequest = shape<ReadResourceRequest>({
  jsonrpc,
  id: requestId,
  method: literal('resources/read'),
  params: readResourceRequestParams,
})

/** The contents of a resource, which may have parts (server/resources, reading resources). */
export type ReadResourceResult = CacheableResult & {
  readonly contents: readonly (TextResourceContents | BlobResourceContents)[]
}

/** The shape of {@link ReadResourceResult}. */
export const readResourceResult = shape<ReadResourceResult>({ ...cacheableMembers, contents: list(readableContents) })

/** The response with a {@link ReadResourceResult}, or a request for input. */
export type ReadResourceResultResponse = {
  readonly jsonrpc: '2.0'
  readonly id: RequestId
  readonly result: InputRequiredResult | ReadResourceResult
}

/** The shape of {@link ReadResourceResultResponse}. */
export const readResourceResultResponse = shape<ReadResourceResultResponse>({
  jsonrpc,
  id: requestId,
  result: union([inputRequiredResult, readResourceResult]),
})
