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

/** The sender or recipient of messages in a conversation (server/prompts). */
export type Role = 'assistant' | 'user'

/** The shape of {@link Role}. */
export const role: Shape<'assistant' | 'user'> = literal('assistant', 'user')

/** Hints for the use and display of a content block or a resource (server/resources, annotations). */
export type Annotations = {
  /** The intended audience of the data. */
  readonly audience?: readonly Role[] | undefined
  /** The time of the last modification, in ISO 8601. */
  readonly lastModified?: string | undefined
  /** The importance, from 0 (optional) to 1 (required). */
  readonly priority?: number | undefined
}

/** The shape of {@link Annotations}. */
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
    /** A description of the content, for the model. */
    readonly description?: string | undefined
    readonly mimeType?: string | undefined
    readonly annotations?: Annotations | undefined
    /** The size of the content in bytes, before any Base64 encoding. */
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

/** The shapes of the members of a {@link Resource}. */
export const resourceMembers = { ...describedMembers, uri: string, size: optional(integer) }

/** The shape of {@link Resource}. */
export const resource: Shape<Resource> = shape<Resource>(resourceMembers)

/** A URI template (RFC 6570) that describes a set of resources (server/resources, resource templates). */
export type ResourceTemplate = BaseMetadata &
  Icons & {
    readonly _meta?: MetaObject | undefined
    readonly uriTemplate: string
    /** A description of the resources, for the model. */
    readonly description?: string | undefined
    /** The media type, if all resources of the template have the same one. Otherwise absent. */
    readonly mimeType?: string | undefined
    readonly annotations?: Annotations | undefined
  }

/** The shape of {@link ResourceTemplate}. */
export const resourceTemplate: Shape<ResourceTemplate> = shape<ResourceTemplate>({
  ...describedMembers,
  uriTemplate: string,
})

/** The common members of resource contents (server/resources, resource contents). */
export type ResourceContents = {
  readonly _meta?: MetaObject | undefined
  /** The URI of these contents. It may name a part of the requested resource. */
  readonly uri: string
  readonly mimeType?: string | undefined
}

const contentsMembers = { uri: string, mimeType: optional(string), _meta: optional(metaObject) }

/** The shape of {@link ResourceContents}. */
export const resourceContents: Shape<ResourceContents> = shape<ResourceContents>(contentsMembers)

/** Text contents (server/resources, text content). */
export type TextResourceContents = ResourceContents & {
  readonly text: string
}

/** The shape of {@link TextResourceContents}. */
export const textResourceContents: Shape<TextResourceContents> = shape<TextResourceContents>({
  ...contentsMembers,
  text: string,
})

/** Binary contents (server/resources, binary content). */
export type BlobResourceContents = ResourceContents & {
  /** The bytes in Base64. */
  readonly blob: string
}

/** The shape of {@link BlobResourceContents}. */
export const blobResourceContents: Shape<BlobResourceContents> = shape<BlobResourceContents>({
  ...contentsMembers,
  blob: string,
})

/**
 * The shape of the contents of a resource: text or bytes. An object with both `text` and `blob` is valid if it matches
 * one of the two shapes.
 */
export const readableContents = union([textResourceContents, blobResourceContents], (value) =>
  isJsonObject(value) && typeof value['text'] !== 'string' && value['blob'] !== undefined ? 1 : 0,
)

/** The params of a notification that a resource has changed (server/resources, subscriptions). */
export type ResourceUpdatedNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /** The URI of the changed resource. It may name a part of a resource that the client subscribed to. */
  readonly uri: string
}

/** The shape of {@link ResourceUpdatedNotificationParams}. */
export const resourceUpdatedNotificationParams: Shape<ResourceUpdatedNotificationParams> =
  shape<ResourceUpdatedNotificationParams>({
    _meta: optional(notificationMetaObject),
    uri: string,
  })
