import * as z from 'zod'
import { uri } from '../basic/formats.zod.ts'
import { metaObject } from '../basic/meta.zod.ts'
import type { ListRootsRequest, ListRootsResult, Root } from './roots.ts'

/** Validates a {@link Root}. */
export const root: z.ZodType<Root> = z.looseObject({
  _meta: metaObject.optional(),
  uri,
  name: z.string().optional(),
})

/** Validates a {@link ListRootsRequest}. */
export const listRootsRequest: z.ZodType<ListRootsRequest> = z.looseObject({
  method: z.literal('roots/list'),
  params: z.looseObject({ _meta: metaObject.optional() }).optional(),
})

/** Validates a {@link ListRootsResult}. */
export const listRootsResult: z.ZodType<ListRootsResult> = z.looseObject({ roots: z.array(root) })
