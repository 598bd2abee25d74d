import type { Annotations } from '../basic/annotations.ts'
import type { BaseMetadata, Icons } from '../basic/implementation.ts'
import type { MetaObject, NotificationMetaObject, NotificationParams } from '../basic/meta.ts'

/** Something that the server can read out (server/resources, resource). */
export type Resource = BaseMetadata &
  Icons & {
    readonly _meta?: MetaObject | undefined
    readonly uri: string
    /** Tells the model what the resource holds. */
    readonly description?: string | undefined
    readonly mimeType?: string | undefined
    readonly annotations?: Annotations | undefined
    /** Bytes of the content itself, before Base64. */
    readonly size?: number | undefined
  }

/** Resources whose URIs follow a template of RFC 6570 (server/resources, resource templates). */
export type ResourceTemplate = BaseMetadata &
  Icons & {
    readonly _meta?: MetaObject | undefined
    readonly uriTemplate: string
    /** Tells the model what the resources hold. */
    readonly description?: string | undefined
    /** The media type, where all resources of the template share one. */
    readonly mimeType?: string | undefined
    readonly annotations?: Annotations | undefined
  }

/** What all contents of resources have in common (server/resources, resource contents). */
export type ResourceContents = {
  readonly _meta?: MetaObject | undefined
  /** What was read, which may be a part of what was asked for. */
  readonly uri: string
  readonly mimeType?: string | undefined
}

/** Contents that are text (server/resources, text content). */
export type TextResourceContents = ResourceContents & {
  readonly text: string
}

/** Contents that are bytes (server/resources, binary content). */
export type BlobResourceContents = ResourceContents & {
  /** The bytes in Base64. */
  readonly blob: string
}

/** The list of resources is another now; told to those who listen for it (server/resources). */
export type ResourceListChangedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/resources/list_changed'
  readonly params?: NotificationParams | undefined
}

/** Which resource changed (server/resources, subscriptions). */
export type ResourceUpdatedNotificationParams = {
  readonly _meta?: NotificationMetaObject | undefined
  /** What changed, which may be a part of what the client listens to. */
  readonly uri: string
}

/** A resource changed and may be worth reading again; told to those who listen for it (server/resources). */
export type ResourceUpdatedNotification = {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/resources/updated'
  readonly params: ResourceUpdatedNotificationParams
}
