import type * as z from 'zod/mini'
import { result } from './result.zod.ts'
import type { ServerResult } from './server-result.ts'

/** Validates a {@link ServerResult}, of which all that can be said is that it is a result: every other kind is one. */
export const serverResult: z.ZodMiniType<ServerResult> = result
