import { isCancelled } from '@x/core'
import type { AsyncResource, Call, Exchange, ObservableState } from '@x/exchange'
import { ConnectionStateSource } from '@x/exchange/internal'
import {
  encodeMessage,
  findMethodRow,
  type ParseBounds,
  protocolVersion,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { createEndpointState, type EndpointState, sendToEndpoint } from './endpoint-state.ts'
import { createPlainHeaders } from './headers.ts'
import { HttpError } from './http-error.ts'
import { type HttpClientRequest, type HttpClientResponse, createClientResponse } from './http-response.ts'
import type { ResolvedConnectOptions } from './options.ts'
import { type BeginRequest, createRunningRequests } from './running-requests.ts'
import { sendExchange } from './send-exchange.ts'
import type { TimeoutWatch } from './timeout-watch.ts'

/**
 * Sends requests to one endpoint: JSON-RPC requests of this revision with `exchange`, and HTTP requests of earlier ones
 * with `send`. Both share the sockets, the user's headers, the authorizer, the time limit, and the rules for redirects
 * and retries.
 */
export interface HttpClient extends AsyncResource, ObservableState {
  readonly exchange: Exchange
  /** Sends a notification of this revision. Rejects with an `HttpError` if the server does not accept it. */
  notify(notification: RpcNotification, call: Pick<Call, 'signal'>): Promise<void>
  /** URL of the endpoint without its query, which may contain secrets. */
  readonly url: string
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal
  /** Limits for one message. */
  readonly bounds: ParseBounds
  /** Sends one HTTP request. Rejects with the reason of the signal, or with an `HttpError` if no response arrives. */
  send(request: HttpClientRequest): Promise<HttpClientResponse>
  /** Rejects running requests with an `HttpError` `closed`, and closes the sockets. */
  close(): Promise<void>
}

/** Uses a platform's sender. Throws a `TypeError` for an invalid URL or an invalid header. */
export function createPlatformClient(
  url: string | URL,
  options: ResolvedConnectOptions,
  platform: Pick<EndpointState, 'sender' | 'checkReply'>,
): HttpClient {
  const closeController = new AbortController()
  const closedSignal = closeController.signal
  const states = new ConnectionStateSource()
  const endpointState = createEndpointState(url, options, { ...platform, states, closed: closedSignal })
  const { origin, pathname } = endpointState.endpoint
  const { beginRequest, stopAll } = createRunningRequests(endpointState)
  const endLoginWatch = options.auth?.onLoginChange?.(endpointState.endpoint, (pendingLogin) => {
    if (pendingLogin === undefined) states.endLogin()
    else states.needLogin(pendingLogin)
  })

  const close = async (): Promise<void> => {
    const reason = new HttpError('closed', 'the connection was closed here', { origin })
    endLoginWatch?.()
    states.close(reason)
    // What is asked of the connection later was never sent.
    const message = 'the connection was closed here before this request, so nothing was sent'
    closeController.abort(new HttpError('closed', message, { origin, mayHaveRun: false }))
    stopAll(reason)
    await platform.sender.close()
  }
  const send: HttpClient['send'] = (request) => sendPlainRequest(endpointState, beginRequest, request)
  return {
    exchange: (request, call) => runExchange(endpointState, beginRequest, request, call),
    notify: (notification, call) => postNotification(send, notification, call),
    send,
    url: origin + pathname,
    closed: closedSignal,
    bounds: endpointState.bounds,
    get state() {
      return states.state
    },
    onStateChange: states.onStateChange,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function runExchange(
  endpointState: EndpointState,
  beginRequest: BeginRequest,
  request: RpcRequest,
  call: Call,
): Promise<RpcResponse> {
  return new Promise((resolve, reject) => {
    if (isCancelled(call)) return reject(call.signal.reason)
    if (endpointState.closed.aborted) return reject(endpointState.closed.reason)
    const start = (timeoutWatch: TimeoutWatch, end: () => void): void => {
      sendExchange(endpointState, { request, call }, timeoutWatch).finally(end).then(resolve, reject)
    }
    const isCall = findMethodRow(request.method)?.isStreaming !== true
    beginRequest(call, { isCall, start, onStop: reject })
  })
}

function sendPlainRequest(
  endpointState: EndpointState,
  beginRequest: BeginRequest,
  request: HttpClientRequest,
): Promise<HttpClientResponse> {
  const { method, headers = {}, body, rpcRequest, signal, mayAuthorize, isCall = false } = request
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    if (endpointState.closed.aborted) return reject(endpointState.closed.reason)
    let stopCause: { readonly reason: unknown } | undefined
    const onStop = (reason: unknown): void => {
      stopCause = { reason }
      reject(reason)
    }
    const createHeaders = (userHeaders: readonly string[]): readonly string[] =>
      createPlainHeaders(headers, userHeaders, body !== undefined)
    const start = ({ cancellation, recordActivity }: TimeoutWatch, end: () => void): void => {
      const getStopReason = (): typeof stopCause => stopCause
      const plainRequest = { method, body, relatedRequest: rpcRequest, createHeaders, mayAuthorize }
      sendToEndpoint(endpointState, plainRequest, cancellation).then(
        ({ incomingResponse, secrets }) => {
          recordActivity()
          const context = { secrets, recordActivity, onEnd: end, getStopReason }
          resolve(createClientResponse(incomingResponse, endpointState, context))
        },
        (error: unknown) => {
          end()
          reject(error)
        },
      )
    }
    beginRequest(request, { isCall, start, onStop })
  })
}

/** A server accepts a notification with a status and no body (basic/transports/streamable-http). */
async function postNotification(
  send: HttpClient['send'],
  notification: RpcNotification,
  { signal }: Pick<Call, 'signal'>,
): Promise<void> {
  const response = await send({
    method: 'POST',
    headers: { 'mcp-protocol-version': protocolVersion, 'mcp-method': notification.method },
    body: encodeMessage(notification),
    // If `headers` is a function, it reads the method and the params. A notification has no id.
    rpcRequest: { ...notification, id: '' },
    signal,
  })
  if (response.status < 200 || response.status >= 300) throw (await response.readFailure()).error
  response.stop()
}
