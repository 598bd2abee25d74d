import type { Resource, TextResourceContents, BlobResourceContents } from '../server/resources.ts'
import type { Annotations } from './annotations.ts'
import type { MetaObject } from './meta.ts'

/** Text for or from a model (server/tools, text content). */
export type TextContent = {
  readonly type: 'text'
  readonly text: string
  readonly annotations?: Annotations | undefined
  readonly _meta?: MetaObject | undefined
}

/** A picture for or from a model (server/tools, image content). */
export type ImageContent = {
  readonly type: 'image'
  /** The picture's bytes in Base64. */
  readonly data: string
  readonly mimeType: string
  readonly annotations?: Annotations | undefined
  readonly _meta?: MetaObject | undefined
}

/** Sound for or from a model (server/tools, audio content). */
export type AudioContent = {
  readonly type: 'audio'
  /** The sound's bytes in Base64. */
  readonly data: string
  readonly mimeType: string
  readonly annotations?: Annotations | undefined
  readonly _meta?: MetaObject | undefined
}

/** A reference to a readable resource, without its contents; it need not be in `resources/list` (server/tools). */
export type ResourceLink = Resource & {
  readonly type: 'resource_link'
}

/** A resource whose contents are included (server/tools, embedded resources). */
export type EmbeddedResource = {
  readonly type: 'resource'
  readonly resource: TextResourceContents | BlobResourceContents
  readonly annotations?: Annotations | undefined
  readonly _meta?: MetaObject | undefined
}

/** One part of a tool result or a prompt message (server/tools, tool result). */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
