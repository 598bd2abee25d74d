import * as z from 'zod'
import { uri } from './formats.zod.ts'
import type { BaseMetadata, Icon, Icons, Implementation } from './implementation.ts'

/** The fields of a {@link BaseMetadata}. */
export const baseMetadataShape = { name: z.string(), title: z.string().optional() }

/** Validates a {@link BaseMetadata}. */
export const baseMetadata: z.ZodType<BaseMetadata> = z.looseObject(baseMetadataShape)

/** Validates an {@link Icon}. */
export const icon: z.ZodType<Icon> = z.looseObject({
  src: uri,
  mimeType: z.string().optional(),
  sizes: z.array(z.string()).optional(),
  theme: z.enum(['dark', 'light']).optional(),
})

/** The fields of {@link Icons}. */
export const iconsShape = { icons: z.array(icon).optional() }

/** Validates {@link Icons}. */
export const icons: z.ZodType<Icons> = z.looseObject(iconsShape)

/** Validates an {@link Implementation}. */
export const implementation: z.ZodType<Implementation> = z.looseObject({
  ...baseMetadataShape,
  ...iconsShape,
  version: z.string(),
  description: z.string().optional(),
  websiteUrl: uri.optional(),
})
