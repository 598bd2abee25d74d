import * as z from 'zod/mini'
import { blobResourceContents, resourceShape, textResourceContents } from '../server/resources.zod.ts'
import { annotations } from './annotations.zod.ts'
import type {
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  TextContent,
} from './content.ts'
import { base64 } from './json.zod.ts'
import { metaObject } from './meta.zod.ts'

const shape = { annotations: z.optional(annotations), _meta: z.optional(metaObject) }

/** Validates a {@link TextContent}. */
export const textContent: z.ZodMiniType<TextContent> = z.looseObject({
  ...shape,
  type: z.literal('text'),
  text: z.string(),
})

/** Validates an {@link ImageContent}. */
export const imageContent: z.ZodMiniType<ImageContent> = z.looseObject({
  ...shape,
  type: z.literal('image'),
  data: base64,
  mimeType: z.string(),
})

/** Validates an {@link AudioContent}. */
export const audioContent: z.ZodMiniType<AudioContent> = z.looseObject({
  ...shape,
  type: z.literal('audio'),
  data: base64,
  mimeType: z.string(),
})

/** Validates a {@link ResourceLink}. */
export const resourceLink: z.ZodMiniType<ResourceLink> = z.looseObject({
  ...resourceShape,
  type: z.literal('resource_link'),
})

/** Validates an {@link EmbeddedResource}. */
export const embeddedResource: z.ZodMiniType<EmbeddedResource> = z.looseObject({
  ...shape,
  type: z.literal('resource'),
  resource: z.union([textResourceContents, blobResourceContents]),
})

/** Validates a {@link ContentBlock}. */
export const contentBlock: z.ZodMiniType<ContentBlock> = z.union([
  textContent,
  imageContent,
  audioContent,
  resourceLink,
  embeddedResource,
])
