import * as z from 'zod/mini'
import type { RequestId } from './rpc.ts'

/**
 * Validates a {@link RequestId}; an integer that JavaScript would round is rejected, since the response would carry
 * another id.
 */
export const requestId: z.ZodMiniType<RequestId> = z.union([z.string(), z.int()])
