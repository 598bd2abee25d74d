import * as z from 'zod/mini'
import type { RequestId } from './rpc.ts'

/** Validates a {@link RequestId}; an integer that JavaScript would round is refused, since its answer would not fit. */
export const requestId: z.ZodMiniType<RequestId> = z.union([z.string(), z.int()])
