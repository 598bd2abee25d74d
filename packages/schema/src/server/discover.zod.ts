import * as z from 'zod/mini'
import { serverCapabilities } from '../basic/capabilities.zod.ts'
import { requestParams } from '../basic/meta.zod.ts'
import { requestValidator, responseValidator } from '../basic/rpc.zod.ts'
import { cacheableResultShape } from './caching.zod.ts'
import type { DiscoverRequest, DiscoverResult, DiscoverResultResponse } from './discover.ts'

/** Validates a {@link DiscoverRequest}. */
export const discoverRequest: z.ZodMiniType<DiscoverRequest> = requestValidator('server/discover', requestParams)

/** Validates a {@link DiscoverResult}. */
export const discoverResult: z.ZodMiniType<DiscoverResult> = z.looseObject({
  ...cacheableResultShape,
  supportedVersions: z.array(z.string()),
  capabilities: serverCapabilities,
  instructions: z.optional(z.string()),
})

/** Validates a {@link DiscoverResultResponse}. */
export const discoverResultResponse: z.ZodMiniType<DiscoverResultResponse> = responseValidator(discoverResult)
