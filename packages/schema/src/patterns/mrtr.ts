import type { RequestMetaObject, ResultMetaObject } from '../basic/meta.ts'
import type { ResultType } from '../basic/result.ts'
import type { ElicitRequest, ElicitResult } from '../client/elicitation.ts'
import type { ListRootsRequest, ListRootsResult } from '../client/roots.ts'
import type { CreateMessageRequest, CreateMessageResult } from '../client/sampling.ts'

/** One request for input from a server to a client (basic/patterns/mrtr). */
export type InputRequest = CreateMessageRequest | ListRootsRequest | ElicitRequest

/** A client's response to one {@link InputRequest} (basic/patterns/mrtr). */
export type InputResponse = CreateMessageResult | ListRootsResult | ElicitResult

/** A server's requests for input, by keys of its own choice (basic/patterns/mrtr). */
export type InputRequests = {
  readonly [key: string]: InputRequest
}

/** A client's responses, by the keys of the {@link InputRequests} (basic/patterns/mrtr). */
export type InputResponses = {
  readonly [key: string]: InputResponse
}

/**
 * The result of a request that needs input first: answer `inputRequests` and send it again with `requestState`
 * (basic/patterns/mrtr). At least one of the two is present; `resultType` is `input_required`.
 */
export type InputRequiredResult = {
  readonly _meta?: ResultMetaObject | undefined
  readonly resultType: ResultType
  readonly inputRequests?: InputRequests | undefined
  /** The opaque state of the request: send it back unchanged. */
  readonly requestState?: string | undefined
}

/** The params of a request that may be a retry with input (basic/patterns/mrtr). */
export type InputResponseRequestParams = {
  readonly _meta: RequestMetaObject
  readonly inputResponses?: InputResponses | undefined
  /** The state of the {@link InputRequiredResult}, unchanged; the server must verify it before use. */
  readonly requestState?: string | undefined
}
