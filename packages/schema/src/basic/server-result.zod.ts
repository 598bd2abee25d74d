import type * as z from 'zod/mini'
import { result } from './result.zod.ts'
import type { ServerResult } from './server-result.ts'

/** Validates a {@link ServerResult}; any valid result is one. */
export const serverResult: z.ZodMiniType<ServerResult> = result
