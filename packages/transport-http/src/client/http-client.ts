import {
  type Call,
  cancelReason,
  encodeMessage,
  type Exchange,
  isCancelled,
  type ParseBounds,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { addToList, removeFromList, type IndexedEntry } from '../indexed-list.ts'
import { failureOf } from './failure.ts'
import { plainHeaders, requestHeaders } from './headers.ts'
import { HttpError } from './http-error.ts'
import { type HttpClientRequest, type HttpClientResponse, openResponse } from './http-response.ts'
import { createLink, type Link, sendOver } from './link.ts'
import type { HttpConnectOptions } from './options.ts'
import { readReply } from './read-reply.ts'
import { startWatch, type Watch } from './watch.ts'

/**
 * Requests to one endpoint: an exchange of this revision, and plain HTTP requests for protocols that are not. Both share the
 * connections, the user's headers, the authorizer, the limits of time, and the rules for redirects and for sending again.
 */
export interface HttpClient extends AsyncDisposable {
  readonly exchange: Exchange
  /** The endpoint without its query, which may hold secrets. */
  readonly url: string
  /** Aborts with {@link close}. */
  readonly closed: AbortSignal
  /** The bounds of one message. */
  readonly bounds: ParseBounds
  /** Sends one request. Rejects with an `HttpError` when no answer could be had, or with the signal's reason. */
  send(request: HttpClientRequest): Promise<HttpClientResponse>
  /** Rejects what is under way with an `HttpError` `closed`, and ends the connections. */
  close(): Promise<void>
}

interface RunningRequest extends IndexedEntry {
  readonly watch: Watch
}

/** Starts watching over a request; what it gives is called when the request is over. */
type BeginRequest = (about: RpcRequest, call: Pick<Call, 'signal'>, onStop: (reason: unknown) => void) => BegunRequest

interface BegunRequest {
  readonly watch: Watch
  readonly end: () => void
}

/** Joins the shared core to what a platform sends with. Throws a `TypeError` for an address or headers that cannot be. */
export function createClientOver(
  url: string | URL,
  options: HttpConnectOptions,
  platform: Pick<Link, 'sender' | 'checkReply'>,
): HttpClient {
  const closing = new AbortController()
  const closed = closing.signal
  const link = createLink(url, options, { ...platform, closed })
  const { origin, pathname } = link.endpoint
  const running: RunningRequest[] = []

  const begin: BeginRequest = (about, call, onStop) => {
    const timeouts = typeof options.timeouts === 'function' ? options.timeouts(about) : (options.timeouts ?? {})
    const watch = startWatch({ call, timeouts, clock: link.clock, origin, onStop })
    const entry: RunningRequest = { watch, index: -1 }
    addToList(running, entry)
    const end = (): void => {
      watch.end()
      removeFromList(running, entry)
    }
    return { watch, end }
  }
  const close = async (): Promise<void> => {
    const reason = new HttpError('closed', `${origin}: the connection was closed here`, { origin })
    closing.abort(reason)
    for (const { watch } of running.slice()) watch.stop(reason)
    await platform.sender.close()
  }
  return {
    exchange: (request, call) => runExchange(link, begin, { request, call }),
    send: (request) => sendPlain(link, begin, request),
    url: origin + pathname,
    closed,
    bounds: link.bounds,
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface HttpExchange {
  readonly request: RpcRequest
  readonly call: Call
}

function runExchange(link: Link, begin: BeginRequest, exchange: HttpExchange): Promise<RpcResponse> {
  const { request, call } = exchange
  return new Promise((resolve, reject) => {
    if (isCancelled(call)) return reject(cancelReason(call))
    if (link.closed.aborted) return reject(link.closed.reason)
    const { watch, end } = begin(request, call, reject)
    sendExchange(link, exchange, watch).then(
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

async function sendExchange(link: Link, { request, call }: HttpExchange, watch: Watch): Promise<RpcResponse> {
  const { clock, bounds, maxStreamBytes } = link
  const headersWith = (own: readonly string[]): readonly string[] => requestHeaders(request, call, own)
  const outgoing = { method: 'POST', body: encodeMessage(request), about: request, headersWith } as const
  const { incoming, secrets } = await sendOver(link, outgoing, watch.cancellation)
  const { origin } = link.endpoint
  const { decodes } = link.sender
  try {
    watch.touch()
    const context = { request, call, origin, bounds, maxStreamBytes, clock, decodes, secrets, touch: watch.touch }
    const reply = readReply(incoming, context)
    return await (link.checkReply === undefined ? reply : link.checkReply(incoming.status, reply, request))
  } catch (error) {
    throw failureOf(error, origin)
  }
}

function sendPlain(link: Link, begin: BeginRequest, request: HttpClientRequest): Promise<HttpClientResponse> {
  const { method, headers = {}, body, about, signal } = request
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    if (link.closed.aborted) return reject(link.closed.reason)
    let stopped: { readonly reason: unknown } | undefined
    const { watch, end } = begin(about, request, (reason) => {
      stopped = { reason }
      reject(reason)
    })
    const headersWith = (own: readonly string[]): readonly string[] => plainHeaders(headers, own, body !== undefined)
    sendOver(link, { method, body, about, headersWith }, watch.cancellation).then(
      ({ incoming, secrets }) => {
        watch.touch()
        resolve(openResponse(incoming, { link, secrets, touch: watch.touch, end, stopped: () => stopped }))
      },
      (error: unknown) => {
        end()
        reject(error)
      },
    )
  })
}
