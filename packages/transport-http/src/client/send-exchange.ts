import type { Call } from '@x/exchange'
import { encodeMessage, type RpcRequest, type RpcResponse } from '@x/schema'
import { type EndpointState, sendToEndpoint } from './endpoint-state.ts'
import { createRequestHeaders } from './headers.ts'
import { toHttpError } from './platform-error.ts'
import { readReply } from './read-reply.ts'
import { reportStateOfFailure } from './report-state.ts'
import type { TimeoutWatch } from './timeout-watch.ts'

/** Sends a request of this revision as one POST, and reads its response. */
export async function sendExchange(
  endpointState: EndpointState,
  { request, call }: { readonly request: RpcRequest; readonly call: Call },
  timeoutWatch: TimeoutWatch,
): Promise<RpcResponse> {
  const { clock, bounds, options } = endpointState
  const createHeaders = (userHeaders: readonly string[]): readonly string[] =>
    createRequestHeaders(request, call, userHeaders)
  const body = encodeMessage(request)
  const endpointRequest = { method: 'POST', body, relatedRequest: request, createHeaders } as const
  const { incomingResponse, secrets } = await sendToEndpoint(endpointState, endpointRequest, timeoutWatch.cancellation)
  const { origin } = endpointState.endpoint
  const { isContentDecoded } = endpointState.sender
  try {
    timeoutWatch.recordActivity()
    const context = {
      request,
      call,
      origin,
      bounds,
      maxStreamBytes: options.maxStreamBytes,
      clock,
      isContentDecoded,
      secrets,
      recordActivity: timeoutWatch.recordActivity,
    }
    const reply = readReply(incomingResponse, context)
    const response = await (endpointState.checkReply === undefined
      ? reply
      : endpointState.checkReply(incomingResponse.status, reply, request))
    if (incomingResponse.status !== 401) endpointState.states.open()
    return response
  } catch (error) {
    const httpError = toHttpError(error, origin)
    if (!timeoutWatch.cancellation.isCancelled) reportStateOfFailure(endpointState.states, httpError)
    throw httpError
  }
}
