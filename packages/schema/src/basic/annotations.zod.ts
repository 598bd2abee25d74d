import * as z from 'zod/mini'
import type { Annotations, Role } from './annotations.ts'

/** Validates a {@link Role}. */
export const role: z.ZodMiniType<Role> = z.enum(['assistant', 'user'])

/** Validates {@link Annotations}. */
export const annotations: z.ZodMiniType<Annotations> = z.looseObject({
  audience: z.optional(z.array(role)),
  lastModified: z.optional(z.string()),
  priority: z.optional(z.number().check(z.minimum(0), z.maximum(1))),
})
