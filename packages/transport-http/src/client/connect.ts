import {
  type Call,
  cancelledBy,
  cancelReason,
  type Clock,
  defaultBounds,
  encodeMessage,
  type Exchange,
  isCancelled,
  type ParseBounds,
  platformClock,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { enter, leave, type Rostered } from '../roster.ts'
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
  /** Aborts with {@link close}, for whoever would otherwise try again. */
  readonly closed: AbortSignal
  /** Rejects what is under way with an `HttpError` `closed`, and ends the connections. */
  close(): Promise<void>
}

const messageBytes = 16 * 1024 * 1024
const streamBytes = 64 * 1024 * 1024

interface Running extends Rostered {
  readonly watch: Watch
}

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
  const running: Running[] = []
  const closing = new AbortController()
  const closedHere = (): HttpError => new HttpError('closed', `${origin}: the connection was closed here`, { origin })

  const exchange = (request: RpcRequest, call: Call): Promise<RpcResponse> =>
    new Promise((resolve, reject) => {
      if (isCancelled(call)) return reject(cancelReason(call))
      if (closing.signal.aborted) return reject(closing.signal.reason)
      const timeouts = typeof options.timeouts === 'function' ? options.timeouts(request) : (options.timeouts ?? {})
      const watch = startWatch({ call, timeouts, clock, origin, onStop: reject })
      const entry: Running = { watch, place: -1 }
      enter(running, entry)
      const over = (): void => {
        watch.end()
        leave(running, entry)
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
    const reason = closedHere()
    closing.abort(reason)
    for (const { watch } of running.slice()) watch.stop(reason)
    await sender.close()
  }
  return Object.assign(exchange, {
    url: origin + pathname,
    closed: closing.signal,
    close,
    [Symbol.asyncDispose]: close,
  })
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
  const outgoing = cancelledBy({ url: link.endpoint, headers, body: encodeMessage(request) }, watch.cancellation)
  if (isCancelled(outgoing)) throw cancelReason(outgoing)
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
    const { url } = outgoing
    const attempt = outgoing
    const incoming = await withRetry(() => sender.send(attempt), { retry, isUnsent, outgoing, clock, random })
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
