import * as z from 'zod/mini'
import { uriTemplate } from '../basic/json.zod.ts'
import { baseMetadataShape } from '../basic/implementation.zod.ts'
import { requestMetaObject } from '../basic/meta.zod.ts'
import { resultShape } from '../basic/result.zod.ts'
import { requestValidator, responseValidator } from '../basic/rpc.zod.ts'
import type {
  CompleteRequest,
  CompleteRequestParams,
  CompleteResult,
  CompleteResultResponse,
  PromptReference,
  ResourceTemplateReference,
} from './completion.ts'

/** Validates a {@link PromptReference}. */
export const promptReference: z.ZodMiniType<PromptReference> = z.looseObject({
  ...baseMetadataShape,
  type: z.literal('ref/prompt'),
})

/** Validates a {@link ResourceTemplateReference}. */
export const resourceTemplateReference: z.ZodMiniType<ResourceTemplateReference> = z.looseObject({
  type: z.literal('ref/resource'),
  uri: uriTemplate,
})

/** Validates a {@link CompleteRequestParams}. */
export const completeRequestParams: z.ZodMiniType<CompleteRequestParams> = z.looseObject({
  _meta: requestMetaObject,
  ref: z.union([promptReference, resourceTemplateReference]),
  argument: z.looseObject({ name: z.string(), value: z.string() }),
  context: z.optional(z.looseObject({ arguments: z.optional(z.record(z.string(), z.string())) })),
})

/** Validates a {@link CompleteRequest}. */
export const completeRequest: z.ZodMiniType<CompleteRequest> = requestValidator(
  'completion/complete',
  completeRequestParams,
)

/** Validates a {@link CompleteResult}. */
export const completeResult: z.ZodMiniType<CompleteResult> = z.looseObject({
  ...resultShape,
  completion: z.looseObject({
    values: z.array(z.string()).check(z.maxLength(100)),
    total: z.optional(z.int()),
    hasMore: z.optional(z.boolean()),
  }),
})

/** Validates a {@link CompleteResultResponse}. */
export const completeResultResponse: z.ZodMiniType<CompleteResultResponse> = responseValidator(completeResult)
