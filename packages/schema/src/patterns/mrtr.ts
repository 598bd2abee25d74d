import type { RequestMetaObject, ResultMetaObject } from '../basic/meta.ts'
import type { ResultType } from '../basic/result.ts'
import type { ElicitRequest, ElicitResult } from '../client/elicitation.ts'
import type { ListRootsRequest, ListRootsResult } from '../client/roots.ts'
import type { CreateMessageRequest, CreateMessageResult } from '../client/sampling.ts'

/** One thing that a server wants of a client before it goes on (basic/patterns/mrtr). */
export type InputRequest = CreateMessageRequest | ListRootsRequest | ElicitRequest

/** What a client answers to one {@link InputRequest} (basic/patterns/mrtr). */
export type InputResponse = CreateMessageResult | ListRootsResult | ElicitResult

/** What a server wants, by keys of its own choice (basic/patterns/mrtr). */
export type InputRequests = {
  readonly [key: string]: InputRequest
}

/** What a client answers, by the keys of the {@link InputRequests} (basic/patterns/mrtr). */
export type InputResponses = {
  readonly [key: string]: InputResponse
}

/**
 * The request cannot be completed yet: answer `inputRequests` and send it again with `requestState`
 * (basic/patterns/mrtr). At least one of the two is there; `resultType` is `input_required`.
 */
export type InputRequiredResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  readonly inputRequests?: InputRequests | undefined
  /** The server's own memory of the request: pass it back as it came. */
  readonly requestState?: string | undefined
}

/** The params of a request that may be a retry with input (basic/patterns/mrtr). */
export type InputResponseRequestParams = {
  readonly _meta: RequestMetaObject
  readonly inputResponses?: InputResponses | undefined
  /** What the {@link InputRequiredResult} brought, unchanged; the server believes nothing of it unverified. */
  readonly requestState?: string | undefined
}
