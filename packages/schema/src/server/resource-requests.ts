import { type RequestMetaObject, requestMetaObject } from '../basic/meta.ts'
import { inputResponseMembers, type InputResponseRequestParams } from '../patterns/mrtr.ts'
import { cacheableMembers, type CacheableResult } from './caching.ts'
import { type Cursor, pageMembers } from './pagination.ts'
import {
  type BlobResourceContents,
  readableContents,
  type Resource,
  resource,
  type ResourceTemplate,
  resourceTemplate,
  type TextResourceContents,
} from './resources.ts'
import { list, type Shape, shape, string } from '../basic/shape.ts'

/** A page of the server's resources (server/resources, listing resources). */
export type ListResourcesResult = CacheableResult & {
  readonly resources: readonly Resource[]
  /** The cursor of the next page. Absent on the last page. */
  readonly nextCursor?: Cursor | undefined
}

/** The shape of {@link ListResourcesResult}. */
export const listResourcesResult: Shape<ListResourcesResult> = shape<ListResourcesResult>({
  ...pageMembers,
  resources: list(resource),
})

/** A page of the server's resource templates (server/resources, resource templates). */
export type ListResourceTemplatesResult = CacheableResult & {
  readonly resourceTemplates: readonly ResourceTemplate[]
  /** The cursor of the next page. Absent on the last page. */
  readonly nextCursor?: Cursor | undefined
}

/** The shape of {@link ListResourceTemplatesResult}. */
export const listResourceTemplatesResult: Shape<ListResourceTemplatesResult> = shape<ListResourceTemplatesResult>({
  ...pageMembers,
  resourceTemplates: list(resourceTemplate),
})

/** The params of a request about one resource (server/resources). */
export type ResourceRequestParams = {
  readonly _meta: RequestMetaObject
  /** The URI of the resource. It may have any scheme, and the server defines its meaning. */
  readonly uri: string
}

/** The shape of {@link ResourceRequestParams}. */
export const resourceRequestParams: Shape<ResourceRequestParams> = shape<ResourceRequestParams>({
  _meta: requestMetaObject,
  uri: string,
})

/** The URI of the resource to read (server/resources, reading resources). */
export type ReadResourceRequestParams = ResourceRequestParams & InputResponseRequestParams

/** The shape of {@link ReadResourceRequestParams}. */
export const readResourceRequestParams: Shape<ReadResourceRequestParams> = shape<ReadResourceRequestParams>({
  ...inputResponseMembers,
  uri: string,
})

/**
 * The contents of a resource. A resource with several parts has several contents (server/resources, reading resources).
 */
export type ReadResourceResult = CacheableResult & {
  readonly contents: readonly (TextResourceContents | BlobResourceContents)[]
}

/** The shape of {@link ReadResourceResult}. */
export const readResourceResult: Shape<ReadResourceResult> = shape<ReadResourceResult>({
  ...cacheableMembers,
  contents: list(readableContents),
})
