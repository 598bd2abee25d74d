import * as z from 'zod'
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
import { base64 } from './formats.zod.ts'
import { metaObject } from './meta.zod.ts'

const shape = { annotations: annotations.optional(), _meta: metaObject.optional() }

/** Validates a {@link TextContent}. */
export const textContent: z.ZodType<TextContent> = z.looseObject({
  ...shape,
  type: z.literal('text'),
  text: z.string(),
})

/** Validates an {@link ImageContent}. */
export const imageContent: z.ZodType<ImageContent> = z.looseObject({
  ...shape,
  type: z.literal('image'),
  data: base64,
  mimeType: z.string(),
})

/** Validates an {@link AudioContent}. */
export const audioContent: z.ZodType<AudioContent> = z.looseObject({
  ...shape,
  type: z.literal('audio'),
  data: base64,
  mimeType: z.string(),
})

/** Validates a {@link ResourceLink}. */
export const resourceLink: z.ZodType<ResourceLink> = z.looseObject({
  ...resourceShape,
  type: z.literal('resource_link'),
})

/** Validates an {@link EmbeddedResource}. */
export const embeddedResource: z.ZodType<EmbeddedResource> = z.looseObject({
  ...shape,
  type: z.literal('resource'),
  resource: z.union([textResourceContents, blobResourceContents]),
})

/** Validates a {@link ContentBlock}. */
export const contentBlock: z.ZodType<ContentBlock> = z.union([
  textContent,
  imageContent,
  audioContent,
  resourceLink,
  embeddedResource,
])
