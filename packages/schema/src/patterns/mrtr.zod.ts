import * as z from 'zod/mini'
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
export const inputRequest: z.ZodMiniType<InputRequest> = z.union([
  createMessageRequest,
  listRootsRequest,
  elicitRequest,
])

/** Validates an {@link InputResponse}. */
export const inputResponse: z.ZodMiniType<InputResponse> = z.union([createMessageResult, listRootsResult, elicitResult])

/** Validates {@link InputRequests}. */
export const inputRequests: z.ZodMiniType<InputRequests> = z.record(z.string(), inputRequest)

/** Validates {@link InputResponses}. */
export const inputResponses: z.ZodMiniType<InputResponses> = z.record(z.string(), inputResponse)

/**
 * Validates an {@link InputRequiredResult} as the published schema does: any `resultType`, and either field may be
 * absent. `resultValidators` has the stricter check for clients.
 */
export const inputRequiredResult: z.ZodMiniType<InputRequiredResult> = z.looseObject({
  ...resultShape,
  inputRequests: z.optional(inputRequests),
  requestState: z.optional(z.string()),
})

/** The fields of a {@link InputResponseRequestParams}. */
export const inputResponseRequestParamsShape = {
  _meta: requestMetaObject,
  inputResponses: z.optional(inputResponses),
  requestState: z.optional(z.string()),
}

/** Validates an {@link InputResponseRequestParams}. */
export const inputResponseRequestParams: z.ZodMiniType<InputResponseRequestParams> = z.looseObject(
  inputResponseRequestParamsShape,
)
