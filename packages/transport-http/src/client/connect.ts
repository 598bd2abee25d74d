import {
  type Call,
  type Clock,
  defaultBounds,
  encodeMessage,
  type Exchange,
  type ParseBounds,
  platformClock,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { failureOf, isUnsent } from './failure.ts'
import { requestHeaders, userHeaders } from './headers.ts'
import { HttpError } from './http-error.ts'
import type { HttpConnectOptions } from './options.ts'
import { readReply } from './read-reply.ts'
import { isRedirect, redirectTarget } from './redirect.ts'
import { withRetry } from './retry.ts'
import type { Incoming, Outgoing, Sender } from './send.ts'
import { startWatch, type Watch } from './watch.ts'

/** An exchange over HTTP, which holds connections until it is closed. */
export interface HttpConnection extends Exchange, AsyncDisposable {
  /** The endpoint without its query, which may hold secrets. */
  readonly url: string
  /** Rejects what is under way with an `HttpError` `closed`, and ends the connections. */
  close(): Promise<void>
}

const messageBytes = 16 * 1024 * 1024
const streamBytes = 64 * 1024 * 1024

interface Link {
  readonly endpoint: URL
  readonly options: HttpConnectOptions
  readonly sender: Sender
  readonly clock: Clock
  /** The user's headers, checked; `undefined` when a function gives them per request. */
  readonly fixedHeaders: readonly string[] | undefined
  readonly bounds: ParseBounds
  readonly maxStreamBytes: number
}

/** Joins the shared core to what a platform sends with. Throws a `TypeError` for an address or headers that cannot be. */
export function createConnection(url: string | URL, options: HttpConnectOptions, sender: Sender): HttpConnection {
  const { headers = {}, clock = platformClock } = options
  const fixedHeaders = typeof headers === 'function' ? undefined : userHeaders(headers)
  const bounds = { ...defaultBounds, bytes: messageBytes, ...options.bounds }
  const { maxStreamBytes = streamBytes } = options
  const link: Link = { endpoint: endpointOf(url), options, sender, clock, fixedHeaders, bounds, maxStreamBytes }
  const { origin, pathname } = link.endpoint
  const running = new Set<Watch>()
  let isClosed = false
  const closed = (): HttpError => new HttpError('closed', `${origin}: the connection was closed here`, { origin })

  const exchange = (request: RpcRequest, call: Call): Promise<RpcResponse> =>
    new Promise((resolve, reject) => {
      if (call.signal.aborted) return reject(call.signal.reason)
      if (isClosed) return reject(closed())
      const timeouts = typeof options.timeouts === 'function' ? options.timeouts(request) : (options.timeouts ?? {})
      const watch = startWatch({ signal: call.signal, timeouts, clock, origin, onStop: reject })
      running.add(watch)
      const over = (): void => {
        watch.end()
        running.delete(watch)
      }
      roundTrip(link, { request, call, watch }).then(
        (response) => {
          over()
          resolve(response)
        },
        (error: unknown) => {
          over()
          reject(error)
        },
      )
    })
  const close = async (): Promise<void> => {
    isClosed = true
    for (const watch of running) watch.stop(closed())
    await sender.close()
  }
  return Object.assign(exchange, { url: origin + pathname, close, [Symbol.asyncDispose]: close })
}

interface Trip {
  readonly request: RpcRequest
  readonly call: Call
  readonly watch: Watch
}

async function roundTrip(link: Link, { request, call, watch }: Trip): Promise<RpcResponse> {
  const { clock, options } = link
  const own = link.fixedHeaders ?? (await askedHeaders(options, request))
  const headers = requestHeaders(request, call, own)
  const outgoing = { url: link.endpoint, headers, body: encodeMessage(request), signal: watch.signal }
  watch.signal.throwIfAborted()
  const { origin } = link.endpoint
  const { bounds, maxStreamBytes } = link
  const secrets = own.filter((_, index) => index % 2 === 1)
  const { decodes } = link.sender
  try {
    const incoming = await follow(link, outgoing)
    watch.touch()
    const context = { request, call, origin, bounds, maxStreamBytes, clock, decodes, secrets, touch: watch.touch }
    return await readReply(incoming, context)
  } catch (error) {
    throw failureOf(error, origin)
  }
}

async function askedHeaders({ headers }: HttpConnectOptions, request: RpcRequest): Promise<readonly string[]> {
  return typeof headers === 'function' ? userHeaders(await headers(request)) : []
}

async function follow(link: Link, first: Outgoing): Promise<Incoming> {
  const { options, sender, clock } = link
  const { retry = {}, random = Math.random, maxRedirects = 3 } = options
  let outgoing = first
  for (let redirects = 0; ; redirects += 1) {
    const { url, signal } = outgoing
    const incoming = await withRetry(() => sender.send(outgoing), { retry, isUnsent, signal, clock, random })
    if (!isRedirect(incoming.status)) return incoming
    incoming.stop()
    if (redirects >= maxRedirects) {
      const message = `${url.origin}: more than ${maxRedirects} redirects`
      throw new HttpError('redirect', message, { origin: url.origin, status: incoming.status })
    }
    outgoing = { ...outgoing, url: redirectTarget(url, incoming) }
  }
}

function endpointOf(url: string | URL): URL {
  const endpoint = new URL(url)
  if (endpoint.protocol !== 'http:' && endpoint.protocol !== 'https:') {
    throw new TypeError(`An MCP endpoint must be an http: or https: address, not ${endpoint.protocol}`)
  }
  if (endpoint.username !== '' || endpoint.password !== '') {
    throw new TypeError('Credentials belong in an Authorization header, not in the address')
  }
  endpoint.hash = ''
  return endpoint
}
