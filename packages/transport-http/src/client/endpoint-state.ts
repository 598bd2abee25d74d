import { type Cancellation, withCancellation, cancelReason, type Clock, isCancelled, platformRuntime } from '@x/core'
import { defaultBounds, type ParseBounds, type RpcRequest, type RpcResponse } from '@x/schema'
import { failureOf, isUnsent } from './platform-error.ts'
import { operationOf, flattenUserHeaders } from './headers.ts'
import { HttpError } from './http-error.ts'
import type { HttpConnectOptions, HttpHeaders, HttpTarget } from './options.ts'
import { isRedirect, redirectTarget } from './redirect.ts'
import { withRetry } from './retry.ts'
import type { HttpMethod, IncomingResponse, OutgoingRequest, Sender } from './sender.ts'
import { sendAuthorized } from './send-authorized.ts'

const defaultMessageBytes = 16 * 1024 * 1024
const defaultStreamBytes = 64 * 1024 * 1024

/**
 * Looks at the reply to a request, by its HTTP status. Rejects with {@link HttpError} `unsupported_version` in its
 * place.
 */
export type CheckReply = (status: number, reply: Promise<RpcResponse>, request: RpcRequest) => Promise<RpcResponse>

/** State that the requests to one endpoint share. */
export interface EndpointState {
  readonly endpoint: URL
  readonly options: HttpConnectOptions
  readonly sender: Sender
  readonly clock: Clock
  /** The user's headers, checked; `undefined` when a function gives them per request. */
  readonly fixedHeaders: readonly string[] | undefined
  readonly bounds: ParseBounds
  readonly maxStreamBytes: number
  readonly closed: AbortSignal
  /** Looks at replies; absent where requests of earlier revisions are sent as well. */
  readonly checkReply?: CheckReply | undefined
}

/** Checks an endpoint and its options. Throws a `TypeError` for an address or headers that cannot be. */
export function createEndpointState(
  url: string | URL,
  options: HttpConnectOptions,
  connection: Pick<EndpointState, 'sender' | 'closed' | 'checkReply'>,
): EndpointState {
  const { headers = {}, runtime: clock = platformRuntime, maxStreamBytes = defaultStreamBytes } = options
  const fixedHeaders = typeof headers === 'function' ? undefined : flattenUserHeaders(headers)
  const bounds = { ...defaultBounds, bytes: defaultMessageBytes, ...options.bounds }
  return { endpoint: endpointUrl(url), options, clock, fixedHeaders, bounds, maxStreamBytes, ...connection }
}

/** One HTTP request to the endpoint. */
export interface EndpointRequest {
  readonly method: HttpMethod
  readonly body: string | undefined
  /** The message that it carries or is about. */
  readonly about: RpcRequest
  /** Its headers, with the user's own among them, as names and values in turn. */
  readonly headersWith: (ownHeaders: readonly string[]) => readonly string[]
}

/** The response, and the values that were sent and must not appear in an error. */
export interface EndpointResponse {
  readonly incoming: IncomingResponse
  readonly secrets: readonly string[]
}

/**
 * Sends a request with the user's headers and those of the authorizer, again where that harms nothing, and along
 * redirects.
 */
export async function sendToEndpoint(
  link: EndpointState,
  request: EndpointRequest,
  cancellation: Cancellation,
): Promise<EndpointResponse> {
  const { options, endpoint } = link
  const { method, body, about } = request
  const ownHeaders = link.fixedHeaders ?? (await resolveUserHeaders(options, about))
  const headers = request.headersWith(ownHeaders)
  const secrets = ownHeaders.filter((_, index) => index % 2 === 1)
  const sendWithHeaders = (authHeaders: readonly string[]): Promise<IncomingResponse> => {
    for (let index = 1; index < authHeaders.length; index += 2) secrets.push(authHeaders[index] ?? '')
    return sendOutgoing(
      link,
      withCancellation({ url: endpoint, method, headers: [...headers, ...authHeaders], body }, cancellation),
    )
  }
  const { auth } = options
  if (auth === undefined) return { incoming: await sendWithHeaders([]), secrets }
  const target: HttpTarget = { url: new URL(endpoint), method, operation: operationOf(about), signal: link.closed }
  return {
    incoming: await sendAuthorized(auth, target, (authHeaders) =>
      sendWithHeaders(checkAuthHeaders(authHeaders, ownHeaders)),
    ),
    secrets,
  }
}

async function sendOutgoing(link: EndpointState, outgoing: OutgoingRequest): Promise<IncomingResponse> {
  if (isCancelled(outgoing)) throw cancelReason(outgoing)
  try {
    return await followRedirects(link, outgoing)
  } catch (error) {
    throw failureOf(error, link.endpoint.origin)
  }
}

/** The headers of an authorizer, none of which the user has set as well. */
function checkAuthHeaders(authHeaders: HttpHeaders, ownHeaders: readonly string[]): readonly string[] {
  const headers = flattenUserHeaders(authHeaders)
  const duplicateName = headers.find(
    (name, index) => index % 2 === 0 && ownHeaders.some((other, at) => at % 2 === 0 && other === name),
  )
  if (duplicateName === undefined) return headers
  throw new TypeError(`The header ${duplicateName} comes from \`auth\` and from \`headers\`: leave it to one of them`)
}

async function resolveUserHeaders({ headers }: HttpConnectOptions, request: RpcRequest): Promise<readonly string[]> {
  return typeof headers === 'function' ? flattenUserHeaders(await headers(request)) : []
}

async function followRedirects(link: EndpointState, initialRequest: OutgoingRequest): Promise<IncomingResponse> {
  const { options, sender, clock } = link
  const { retry = {}, random = Math.random, maxRedirects = 3 } = options
  let outgoing = initialRequest
  for (let redirectCount = 0; ; redirectCount += 1) {
    const { url } = outgoing
    const attempt = outgoing
    const incoming = await withRetry(() => sender.send(attempt), { retry, isUnsent, outgoing, clock, random })
    if (!isRedirect(incoming.status)) return incoming
    incoming.stop()
    if (redirectCount >= maxRedirects) {
      const message = `${url.origin}: more than ${maxRedirects} redirects`
      throw new HttpError('redirect', message, { origin: url.origin, status: incoming.status })
    }
    outgoing = { ...outgoing, url: redirectTarget(url, incoming) }
  }
}

function endpointUrl(url: string | URL): URL {
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
