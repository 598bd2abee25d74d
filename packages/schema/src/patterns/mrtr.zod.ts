import * as z from 'zod'
import { requestMetaObject } from '../basic/meta.zod.ts'
import { resultShape } from '../basic/result.zod.ts'
import { elicitRequest, elicitResult } from '../client/elicitation.zod.ts'
import { listRootsRequest, listRootsResult } from '../client/roots.zod.ts'
import { createMessageRequest, createMessageResult } from '../client/sampling.zod.ts'
import type {
  InputRequest,
  InputRequests,
  InputRequiredResult,
  InputResponse,
  InputResponseRequestParams,
  InputResponses,
} from './mrtr.ts'

/** Validates an {@link InputRequest}. */
export const inputRequest: z.ZodType<InputRequest> = z.union([createMessageRequest, listRootsRequest, elicitRequest])

/** Validates an {@link InputResponse}. */
export const inputResponse: z.ZodType<InputResponse> = z.union([createMessageResult, listRootsResult, elicitResult])

/** Validates {@link InputRequests}. */
export const inputRequests: z.ZodType<InputRequests> = z.record(z.string(), inputRequest)

/** Validates {@link InputResponses}. */
export const inputResponses: z.ZodType<InputResponses> = z.record(z.string(), inputResponse)

/**
 * Validates an {@link InputRequiredResult} as the published schema does: any `resultType`, and either field may be
 * absent. What a client may act on is checked by `resultValidators`.
 */
export const inputRequiredResult: z.ZodType<InputRequiredResult> = z.looseObject({
  ...resultShape,
  inputRequests: inputRequests.optional(),
  requestState: z.string().optional(),
})

/** The fields of a {@link InputResponseRequestParams}. */
export const inputResponseRequestParamsShape = {
  _meta: requestMetaObject,
  inputResponses: inputResponses.optional(),
  requestState: z.string().optional(),
}

/** Validates an {@link InputResponseRequestParams}. */
export const inputResponseRequestParams: z.ZodType<InputResponseRequestParams> = z.looseObject(
  inputResponseRequestParamsShape,
)
