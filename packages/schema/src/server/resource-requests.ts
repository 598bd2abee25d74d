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
  /** Where the next page begins. Absent on the last one. */
  readonly nextCursor?: Cursor | undefined
}

export const listResourcesResult: Shape<ListResourcesResult> = shape<ListResourcesResult>({
  ...pageMembers,
  resources: list(resource),
})

/** A page of the server's resource templates (server/resources, resource templates). */
export type ListResourceTemplatesResult = CacheableResult & {
  readonly resourceTemplates: readonly ResourceTemplate[]
  /** Where the next page begins. Absent on the last one. */
  readonly nextCursor?: Cursor | undefined
}

export const listResourceTemplatesResult: Shape<ListResourceTemplatesResult> = shape<ListResourceTemplatesResult>({
  ...pageMembers,
  resourceTemplates: list(resourceTemplate),
})

/** Params of a request about one resource (server/resources). */
export type ResourceRequestParams = {
  readonly _meta: RequestMetaObject
  /** URI of the resource. It may have any scheme, and the server defines its meaning. */
  readonly uri: string
}

export const resourceRequestParams: Shape<ResourceRequestParams> = shape<ResourceRequestParams>({
  _meta: requestMetaObject,
  uri: string,
})

/** Which resource to read (server/resources, reading resources). */
export type ReadResourceRequestParams = ResourceRequestParams & InputResponseRequestParams

export const readResourceRequestParams: Shape<ReadResourceRequestParams> = shape<ReadResourceRequestParams>({
  ...inputResponseMembers,
  uri: string,
})

/** Contents of a resource: several if it has several parts (server/resources, reading resources). */
export type ReadResourceResult = CacheableResult & {
  readonly contents: readonly (TextResourceContents | BlobResourceContents)[]
}

export const readResourceResult: Shape<ReadResourceResult> = shape<ReadResourceResult>({
  ...cacheableMembers,
  contents: list(readableContents),
})
