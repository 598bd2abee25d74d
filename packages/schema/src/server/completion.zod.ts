import * as z from 'zod'
import { uriTemplate } from '../basic/formats.zod.ts'
import { baseMetadataShape } from '../basic/implementation.zod.ts'
import { requestMetaObject } from '../basic/meta.zod.ts'
import { resultShape } from '../basic/result.zod.ts'
import { requestOf, responseOf } from '../basic/rpc.zod.ts'
import type {
  CompleteRequest,
  CompleteRequestParams,
  CompleteResult,
  CompleteResultResponse,
  PromptReference,
  ResourceTemplateReference,
} from './completion.ts'

/** Validates a {@link PromptReference}. */
export const promptReference: z.ZodType<PromptReference> = z.looseObject({
  ...baseMetadataShape,
  type: z.literal('ref/prompt'),
})

/** Validates a {@link ResourceTemplateReference}. */
export const resourceTemplateReference: z.ZodType<ResourceTemplateReference> = z.looseObject({
  type: z.literal('ref/resource'),
  uri: uriTemplate,
})

/** Validates a {@link CompleteRequestParams}. */
export const completeRequestParams: z.ZodType<CompleteRequestParams> = z.looseObject({
  _meta: requestMetaObject,
  ref: z.union([promptReference, resourceTemplateReference]),
  argument: z.looseObject({ name: z.string(), value: z.string() }),
  context: z.looseObject({ arguments: z.record(z.string(), z.string()).optional() }).optional(),
})

/** Validates a {@link CompleteRequest}. */
export const completeRequest: z.ZodType<CompleteRequest> = requestOf('completion/complete', completeRequestParams)

/** Validates a {@link CompleteResult}. */
export const completeResult: z.ZodType<CompleteResult> = z.looseObject({
  ...resultShape,
  completion: z.looseObject({
    values: z.array(z.string()).max(100),
    total: z.int().optional(),
    hasMore: z.boolean().optional(),
  }),
})

/** Validates a {@link CompleteResultResponse}. */
export const completeResultResponse: z.ZodType<CompleteResultResponse> = responseOf(completeResult)
