import type { Call, Clock, ParseBounds, RpcRequest, RpcResponse } from '@x/schema'
import { HttpError } from './http-error.ts'

/** The request of a response that is read, and its bounds. */
export interface ReplyContext {
  readonly request: RpcRequest
  readonly call: Call
  readonly origin: string
  readonly bounds: ParseBounds
  readonly maxStreamBytes: number
  readonly clock: Clock
  /** True when compressed bodies arrive decompressed. */
  readonly decodes: boolean
  /** Values that were sent and must not appear in an error. */
  readonly secrets: readonly string[]
  /** Told of every arrival of bytes. */
  readonly touch: () => void
}

/** The response, when it answers this request; throws {@link HttpError} `protocol` when it is another's. */
export function describeServer(response: RpcResponse, { request, origin }: ReplyContext): RpcResponse {
  // An error may lack the id, when the server could not read the request's (basic/index, error responses).
  if (response.id === request.id || (response.id === undefined && 'error' in response)) return response
  throw new HttpError('protocol', `${origin}: the response carries the id of another request`, { origin })
}
