import * as z from 'zod/mini'
import { uri } from './json.zod.ts'
import type { BaseMetadata, Icon, Icons, Implementation } from './implementation.ts'

/** The fields of a {@link BaseMetadata}. */
export const baseMetadataShape = { name: z.string(), title: z.optional(z.string()) }

/** Validates a {@link BaseMetadata}. */
export const baseMetadata: z.ZodMiniType<BaseMetadata> = z.looseObject(baseMetadataShape)

/** Validates an {@link Icon}. */
export const icon: z.ZodMiniType<Icon> = z.looseObject({
  src: uri,
  mimeType: z.optional(z.string()),
  sizes: z.optional(z.array(z.string())),
  theme: z.optional(z.enum(['dark', 'light'])),
})

/** The fields of {@link Icons}. */
export const iconsShape = { icons: z.optional(z.array(icon)) }

/** Validates {@link Icons}. */
export const icons: z.ZodMiniType<Icons> = z.looseObject(iconsShape)

/** Validates an {@link Implementation}. */
export const implementation: z.ZodMiniType<Implementation> = z.looseObject({
  ...baseMetadataShape,
  ...iconsShape,
  version: z.string(),
  description: z.optional(z.string()),
  websiteUrl: z.optional(uri),
})
