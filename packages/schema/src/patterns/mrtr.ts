import { isJsonObject } from '@x/core'
import { type RequestMetaObject, requestMetaObject, type ResultMetaObject } from '../basic/meta.ts'
import { resultMembers, type ResultType } from '../basic/result.ts'
import { type ElicitRequest, elicitRequest, type ElicitResult, elicitResult } from '../client/elicitation.ts'
import { type ListRootsRequest, listRootsRequest, type ListRootsResult, listRootsResult } from '../client/roots.ts'
import {
  type CreateMessageRequest,
  createMessageRequest,
  type CreateMessageResult,
  createMessageResult,
} from '../client/sampling.ts'
import { unionByMember, map, optional, type Shape, shape, string, union } from '../basic/shape.ts'

/**
 * What a server may ask a client for: an elicitation, a sampling request or a request for roots (basic/patterns/mrtr).
 */
export type InputRequest = CreateMessageRequest | ListRootsRequest | ElicitRequest

export const inputRequest = unionByMember<InputRequest, 'method'>('method', {
  'elicitation/create': elicitRequest,
  'sampling/createMessage': createMessageRequest,
  'roots/list': listRootsRequest,
})

/** How a client answers one {@link InputRequest} (basic/patterns/mrtr). */
export type InputResponse = CreateMessageResult | ListRootsResult | ElicitResult

export const inputResponse: Shape<InputResponse> = union(
  [elicitResult, createMessageResult, listRootsResult],
  (value) => {
    if (!isJsonObject(value) || 'action' in value) return 0
    if ('roots' in value) return 2
    return 'role' in value || 'model' in value ? 1 : 0
  },
)

/** What a server asks for, under keys that it chooses (basic/patterns/mrtr). */
export type InputRequests = {
  readonly [key: string]: InputRequest
}

/** Shape of {@link InputRequests}. */
export const inputRequests: Shape<InputRequests> = map(inputRequest)

/** What a client answers, each under the key of its request in the {@link InputRequests} (basic/patterns/mrtr). */
export type InputResponses = {
  readonly [key: string]: InputResponse
}

export const inputResponses: Shape<InputResponses> = map(inputResponse)

/**
 * The server cannot complete the request without input. The client answers the `inputRequests`, and sends the request
 * again with `requestState` (basic/patterns/mrtr). At least one of these two members is present. `resultType` is
 * `input_required`.
 */
export type InputRequiredResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  readonly inputRequests?: InputRequests | undefined
  /** Opaque state of the request, which the client returns unchanged. */
  readonly requestState?: string | undefined
}

export const inputRequiredResult = shape<InputRequiredResult>({
  ...resultMembers,
  inputRequests: optional(inputRequests),
  requestState: optional(string),
})

/** Params of a request that a client may send again with input (basic/patterns/mrtr). */
export type InputResponseRequestParams = {
  readonly _meta: RequestMetaObject
  readonly inputResponses?: InputResponses | undefined
  /** `requestState` of the {@link InputRequiredResult}, unchanged. The server must verify it before use. */
  readonly requestState?: string | undefined
}

export const inputResponseMembers = {
  _meta: requestMetaObject,
  inputResponses: optional(inputResponses),
  requestState: optional(string),
}

export const inputResponseRequestParams = shape<InputResponseRequestParams>(inputResponseMembers)
