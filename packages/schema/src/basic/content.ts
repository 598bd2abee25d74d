import {
  type Annotations,
  annotations,
  type BlobResourceContents,
  readableContents,
  type Resource,
  resourceMembers,
  type TextResourceContents,
} from '../server/resources.ts'
import { type MetaObject, metaObject } from './meta.ts'
import { unionByMember, optional, type Shape, shape, string, literal } from './shape.ts'

/** Text for or from a model (server/tools, text content). */
export type TextContent = {
  readonly type: 'text'
  readonly text: string
  readonly annotations?: Annotations | undefined
  readonly _meta?: MetaObject | undefined
}

const annotatedMembers = { annotations: optional(annotations), _meta: optional(metaObject) }

export const textContent: Shape<TextContent> = shape<TextContent>({
  ...annotatedMembers,
  type: literal('text'),
  text: string,
})

/** A picture for or from a model (server/tools, image content). */
export type ImageContent = {
  readonly type: 'image'
  /** Bytes of the picture in Base64. */
  readonly data: string
  readonly mimeType: string
  readonly annotations?: Annotations | undefined
  readonly _meta?: MetaObject | undefined
}

export const imageContent: Shape<ImageContent> = shape<ImageContent>({
  ...annotatedMembers,
  type: literal('image'),
  data: string,
  mimeType: string,
})

/** Sound for or from a model (server/tools, audio content). */
export type AudioContent = {
  readonly type: 'audio'
  /** Bytes of the sound in Base64. */
  readonly data: string
  readonly mimeType: string
  readonly annotations?: Annotations | undefined
  readonly _meta?: MetaObject | undefined
}

export const audioContent: Shape<AudioContent> = shape<AudioContent>({
  ...annotatedMembers,
  type: literal('audio'),
  data: string,
  mimeType: string,
})

/** Refers to a readable resource, without its contents. The resource need not be in `resources/list` (server/tools). */
export type ResourceLink = Resource & {
  readonly type: 'resource_link'
}

export const resourceLink: Shape<ResourceLink> = shape<ResourceLink>({
  ...resourceMembers,
  type: literal('resource_link'),
})

/** A resource whose contents are included (server/tools, embedded resources). */
export type EmbeddedResource = {
  readonly type: 'resource'
  readonly resource: TextResourceContents | BlobResourceContents
  readonly annotations?: Annotations | undefined
  readonly _meta?: MetaObject | undefined
}

export const embeddedResource: Shape<EmbeddedResource> = shape<EmbeddedResource>({
  ...annotatedMembers,
  type: literal('resource'),
  resource: readableContents,
})

/** One part of a tool result or a prompt message (server/tools, tool result). */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

export const contentBlock: Shape<ContentBlock> = unionByMember<ContentBlock, 'type'>('type', {
  text: textContent,
  image: imageContent,
  audio: audioContent,
  resource_link: resourceLink,
  resource: embeddedResource,
})
