import { isJsonObject } from '@x/core'
import { type BaseMetadata, baseMetadataMembers, type Icons, iconsMembers } from '../basic/implementation.ts'
import { type MetaObject, metaObject, type NotificationMetaObject, notificationMetaObject } from '../basic/meta.ts'
import {
  integer,
  list,
  numberFromZeroToOne,
  optional,
  type Shape,
  shape,
  string,
  union,
  literal,
} from '../basic/shape.ts'

/** Who sends or receives messages in a conversation (server/prompts). */
export type Role = 'assistant' | 'user'

export const role: Shape<'assistant' | 'user'> = literal('assistant', 'user')

/** How to use and show a content block or a resource (server/resources, annotations). */
export type Annotations = {
  /** Whom the data is for. */
  readonly audience?: readonly Role[] | undefined
  /** When it was last modified, in ISO 8601. */
  readonly lastModified?: string | undefined
  /** How important it is, from 0 (optional) to 1 (required). */
  readonly priority?: number | undefined
}

export const annotations: Shape<Annotations> = shape<Annotations>({
  audience: optional(list(role)),
  lastModified: optional(string),
  priority: optional(numberFromZeroToOne),
})

/** A resource that clients can read from the server (server/resources, resource). */
export type Resource = BaseMetadata &
  Icons & {
    readonly _meta?: MetaObject | undefined
    readonly uri: string
    /** Describes the content, for the model. */
    readonly description?: string | undefined
    readonly mimeType?: string | undefined
    readonly annotations?: Annotations | undefined
    /** Size of the content in bytes, before any Base64 encoding. */
    readonly size?: number | undefined
  }

const describedMembers = {
  ...baseMetadataMembers,
  description: optional(string),
  ...iconsMembers,
  annotations: optional(annotations),
  _meta: optional(metaObject),
  mimeType: optional(string),
}

export const resourceMembers = { ...describedMembers, uri: string, size: optional(integer) }

export const resource: Shape<Resource> = shape<Resource>(resourceMembers)

/** A URI template (RFC 6570) that describes a set of resources (server/resources, resource templates). */
export type ResourceTemplate = BaseMetadata &
  Icons & {
    readonly _meta?: MetaObject | undefined
    readonly uriTemplate: string
    /** Describes the resources, for the model. */
    readonly description?: string | undefined
    /** Media type, if all resources of the template have the same one. Otherwise absent. */
    readonly mimeType?: string | undefined
    readonly annotations?: Annotations | undefined
  }

export const resourceTemplate: Shape<ResourceTemplate> = shape<ResourceTemplate>({
  ...describedMembers,
  uriTemplate: string,
})

/** What all resource contents have (server/resources, resource contents). */
export type ResourceContents = {
  readonly _meta?: MetaObject | undefined
  /** URI of these contents. It may name a part of the requested resource. */
  readonly uri: string
  readonly mimeType?: string | undefined
}

const contentsMembers = { uri: string, mimeType: optional(string), _meta: optional(metaObject) }

export const resourceContents: Shape<ResourceContents> = shape<ResourceContents>(contentsMembers)

/** Text contents (server/resources, text content). */
export type TextResourceContents = ResourceContents & {
  readonly text: string
}

export const textResourceContents: Shape<TextResourceContents> = shape<TextResourceContents>({
  ...contentsMembers,
  text: string,
})

/** Binary contents (server/resources, binary content). */
export type BlobResourceContents = ResourceContents & {
  /** Bytes in Base64. */
  readonly blob: string
}

export const blobResourceContents: Shape<BlobResourceContents> = shape<BlobResourceContents>({
  ...contentsMembers,
  blob: string,
})

/** Text or bytes. An object with both `text` and `blob` is valid if it matches one of the two shapes. */
export const readableContents = union([textResourceContents, blobResourceContents], (value) =>
  isJsonObject(value) && typeof value['text'] !== 'string' && value['blob'] !== undefined ? 1 : 0,
)

/** A resource has changed (server/resources, subscriptions). */
export type ResourceUpdatedNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /** Which resource. It may be a part of one that the client subscribed to. */
  readonly uri: string
}

export const resourceUpdatedNotificationParams: Shape<ResourceUpdatedNotificationParams> =
  shape<ResourceUpdatedNotificationParams>({
    _meta: optional(notificationMetaObject),
    uri: string,
  })
