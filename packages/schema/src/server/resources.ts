import type { Annotations } from '../basic/annotations.ts'
import type { BaseMetadata, Icons } from '../basic/implementation.ts'
import type { MetaObject, NotificationMetaObject, NotificationParams } from '../basic/meta.ts'

/** A readable resource of the server (server/resources, resource). */
export type Resource = BaseMetadata &
  Icons & {
    readonly _meta?: MetaObject | undefined
    readonly uri: string
    /** A description of the content, for the model. */
    readonly description?: string | undefined
    readonly mimeType?: string | undefined
    readonly annotations?: Annotations | undefined
    /** The size of the content in bytes, before Base64. */
    readonly size?: number | undefined
  }

/** Resources whose URIs match a template of RFC 6570 (server/resources, resource templates). */
export type ResourceTemplate = BaseMetadata &
  Icons & {
    readonly _meta?: MetaObject | undefined
    readonly uriTemplate: string
    /** A description of the resources, for the model. */
    readonly description?: string | undefined
    /** The media type, if all resources of the template share one. */
    readonly mimeType?: string | undefined
    readonly annotations?: Annotations | undefined
  }

/** The common members of resource contents (server/resources, resource contents). */
export type ResourceContents = {
  readonly _meta?: MetaObject | undefined
  /** The URI of the contents, which may be a part of the requested resource. */
  readonly uri: string
  readonly mimeType?: string | undefined
}

/** Text contents (server/resources, text content). */
export type TextResourceContents = ResourceContents & {
  readonly text: string
}

/** Binary contents (server/resources, binary content). */
export type BlobResourceContents = ResourceContents & {
  /** The bytes in Base64. */
  readonly blob: string
}

/** Notifies subscribers that the list of resources has changed (server/resources). */
export type ResourceListChangedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/resources/list_changed'
  readonly params?: NotificationParams | undefined
}

/** The URI of the changed resource (server/resources, subscriptions). */
export type ResourceUpdatedNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /** The URI, which may be a part of a subscribed resource. */
  readonly uri: string
}

/** Notifies subscribers that a resource has changed (server/resources). */
export type ResourceUpdatedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/resources/updated'
  readonly params: ResourceUpdatedNotificationParams
}
