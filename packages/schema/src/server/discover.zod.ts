import * as z from 'zod'
import { serverCapabilities } from '../basic/capabilities.zod.ts'
import { requestParams } from '../basic/meta.zod.ts'
import { requestOf, responseOf } from '../basic/rpc.zod.ts'
import { cacheableResultShape } from './caching.zod.ts'
import type { DiscoverRequest, DiscoverResult, DiscoverResultResponse } from './discover.ts'

/** Validates a {@link DiscoverRequest}. */
export const discoverRequest: z.ZodType<DiscoverRequest> = requestOf('server/discover', requestParams)

/** Validates a {@link DiscoverResult}. */
export const discoverResult: z.ZodType<DiscoverResult> = z.looseObject({
  ...cacheableResultShape,
  supportedVersions: z.array(z.string()),
  capabilities: serverCapabilities,
  instructions: z.string().optional(),
})

/** Validates a {@link DiscoverResultResponse}. */
export const discoverResultResponse: z.ZodType<DiscoverResultResponse> = responseOf(discoverResult)
