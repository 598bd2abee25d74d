import { isCancelled } from '@x/core'
import type { AsyncResource, Call, Exchange } from '@x/exchange'
import {
  encodeMessage,
  type ParseBounds,
  protocolVersion,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { addToList, removeFromList, type IndexedEntry } from '../indexed-list.ts'
import { toHttpError } from './platform-error.ts'
import { createPlainHeaders, createRequestHeaders } from './headers.ts'
import { HttpError } from './http-error.ts'
import { type HttpClientRequest, type HttpClientResponse, createClientResponse } from './http-response.ts'
import { createEndpointState, type EndpointState, sendToEndpoint } from './endpoint-state.ts'
import type { HttpConnectOptions } from './options.ts'
import { readReply } from './read-reply.ts'
import { startTimeoutWatch, type TimeoutWatch } from './timeout-watch.ts'

/**
 * Sends requests to one endpoint: JSON-RPC requests of this revision with `exchange`, and HTTP requests of earlier
 * revisions with `send`. Both functions share the sockets, the user's headers, the authorizer, the time limit, and the
 * rules for redirects and retries.
 */
export interface HttpClient extends AsyncResource {
  readonly exchange: Exchange
  /** Sends a notification of this revision. Rejects with an `HttpError` if the server does not accept it. */
  notify(notification: RpcNotification, call: Pick<Call, 'signal'>): Promise<void>
  /** The URL of the endpoint without its query, which may contain secrets. */
  readonly url: string
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal
  /** The limits for one message. */
  readonly bounds: ParseBounds
  /** Sends one HTTP request. Rejects with the reason of the signal, or with an `HttpError` if no response arrives. */
  send(request: HttpClientRequest): Promise<HttpClientResponse>
  /** Rejects running requests with an `HttpError` `closed`, and closes the sockets. */
  close(): Promise<void>
}

interface RunningRequest extends IndexedEntry {
  readonly timeoutWatch: TimeoutWatch
}

/**
 * Starts the time limit of a request. The caller must call the function `end` of the result when the request has ended.
 */
type BeginRequest = (
  call: Pick<Call, 'signal'>,
  onStop: (reason: unknown) => void,
) => { readonly timeoutWatch: TimeoutWatch; readonly end: () => void }

/**
 * Creates a client that uses the sender of a platform. Throws a `TypeError` for an invalid URL or an invalid header.
 */
export function createPlatformClient(
  url: string | URL,
  options: HttpConnectOptions,
  platform: Pick<EndpointState, 'sender' | 'checkReply'>,
): HttpClient {
  const closeController = new AbortController()
  const closedSignal = closeController.signal
  const endpointState = createEndpointState(url, options, { ...platform, closed: closedSignal })
  const { origin, pathname } = endpointState.endpoint
  const runningRequests: RunningRequest[] = []

  const beginRequest: BeginRequest = (call, onStop) => {
    const timeoutWatch = startTimeoutWatch({ call, clock: endpointState.clock, origin, onStop })
    const entry: RunningRequest = { timeoutWatch, index: -1 }
    addToList(runningRequests, entry)
    const end = (): void => {
      timeoutWatch.end()
      removeFromList(runningRequests, entry)
    }
    return { timeoutWatch, end }
  }
  const close = async (): Promise<void> => {
    const reason = new HttpError('closed', 'the connection was closed here', { origin })
    closeController.abort(reason)
    for (const { timeoutWatch } of runningRequests.slice()) timeoutWatch.stop(reason)
    await platform.sender.close()
  }
  const send: HttpClient['send'] = (request) => sendPlainRequest(endpointState, beginRequest, request)
  return {
    exchange: (request, call) => runExchange(endpointState, beginRequest, { request, call }),
    notify: (notification, call) => sendNotification(send, notification, call),
    send,
    url: origin + pathname,
    closed: closedSignal,
    bounds: endpointState.bounds,
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface RequestWithCall {
  readonly request: RpcRequest
  readonly call: Call
}

function runExchange(
  endpointState: EndpointState,
  beginRequest: BeginRequest,
  requestWithCall: RequestWithCall,
): Promise<RpcResponse> {
  const { call } = requestWithCall
  return new Promise((resolve, reject) => {
    if (isCancelled(call)) return reject(call.signal.reason)
    if (endpointState.closed.aborted) return reject(endpointState.closed.reason)
    const { timeoutWatch, end } = beginRequest(call, reject)
    sendExchange(endpointState, requestWithCall, timeoutWatch).then(
      (response) => {
        end()
        resolve(response)
      },
      (error: unknown) => {
        end()
        reject(error)
      },
    )
  })
}

async function sendExchange(
  endpointState: EndpointState,
  { request, call }: RequestWithCall,
  timeoutWatch: TimeoutWatch,
): Promise<RpcResponse> {
  const { clock, bounds, maxStreamBytes } = endpointState
  const createHeaders = (userHeaders: readonly string[]): readonly string[] =>
    createRequestHeaders(request, call, userHeaders)
  const endpointRequest = {
    method: 'POST',
    body: encodeMessage(request),
    relatedRequest: request,
    createHeaders,
  } as const
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
      maxStreamBytes,
      clock,
      isContentDecoded,
      secrets,
      recordActivity: timeoutWatch.recordActivity,
    }
    const reply = readReply(incomingResponse, context)
    return await (endpointState.checkReply === undefined
      ? reply
      : endpointState.checkReply(incomingResponse.status, reply, request))
  } catch (error) {
    throw toHttpError(error, origin)
  }
}

function sendPlainRequest(
  endpointState: EndpointState,
  beginRequest: BeginRequest,
  request: HttpClientRequest,
): Promise<HttpClientResponse> {
  const { method, headers = {}, body, rpcRequest, signal, mayAuthorize } = request
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    if (endpointState.closed.aborted) return reject(endpointState.closed.reason)
    let stopCause: { readonly reason: unknown } | undefined
    const { timeoutWatch, end } = beginRequest(request, (reason) => {
      stopCause = { reason }
      reject(reason)
    })
    const createHeaders = (userHeaders: readonly string[]): readonly string[] =>
      createPlainHeaders(headers, userHeaders, body !== undefined)
    sendToEndpoint(
      endpointState,
      { method, body, relatedRequest: rpcRequest, createHeaders, mayAuthorize },
      timeoutWatch.cancellation,
    ).then(
      ({ incomingResponse, secrets }) => {
        timeoutWatch.recordActivity()
        resolve(
          createClientResponse(incomingResponse, {
            endpointState,
            secrets,
            recordActivity: timeoutWatch.recordActivity,
            onEnd: end,
            getStopReason: () => stopCause,
          }),
        )
      },
      (error: unknown) => {
        end()
        reject(error)
      },
    )
  })
}

/** Sends a notification, which the server accepts with a status and no body (basic/transports/streamable-http). */
async function sendNotification(
  send: HttpClient['send'],
  notification: RpcNotification,
  { signal }: Pick<Call, 'signal'>,
): Promise<void> {
  const response = await send({
    method: 'POST',
    headers: { 'mcp-protocol-version': protocolVersion, 'mcp-method': notification.method },
    body: encodeMessage(notification),
    // The option `headers`, if it is a function, reads the method and the params. A notification has no id.
    rpcRequest: { ...notification, id: '' },
    signal,
  })
  if (response.status < 200 || response.status >= 300) throw await response.readError()
  response.stop()
}
