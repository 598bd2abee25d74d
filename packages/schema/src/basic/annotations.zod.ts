import * as z from 'zod'
import type { Annotations, Role } from './annotations.ts'

/** Validates a {@link Role}. */
export const role: z.ZodType<Role> = z.enum(['assistant', 'user'])

/** Validates {@link Annotations}. */
export const annotations: z.ZodType<Annotations> = z.looseObject({
  audience: z.array(role).optional(),
  lastModified: z.string().optional(),
  priority: z.number().min(0).max(1).optional(),
})
