import * as z from 'zod/mini'
import { uri } from '../basic/json.zod.ts'
import { metaObject } from '../basic/meta.zod.ts'
import type { ListRootsRequest, ListRootsResult, Root } from './roots.ts'

/** Validates a {@link Root}. */
export const root: z.ZodMiniType<Root> = z.looseObject({
  _meta: z.optional(metaObject),
  uri,
  name: z.optional(z.string()),
})

/** Validates a {@link ListRootsRequest}. */
export const listRootsRequest: z.ZodMiniType<ListRootsRequest> = z.looseObject({
  method: z.literal('roots/list'),
  params: z.optional(z.looseObject({ _meta: z.optional(metaObject) })),
})

/** Validates a {@link ListRootsResult}. */
export const listRootsResult: z.ZodMiniType<ListRootsResult> = z.looseObject({ roots: z.array(root) })
