import { type Clock, computeBackoffMs, sleep, type Cancellation, isCancelled, quoteText, withSignalOf } from '@x/core'
import type { ConnectionStateSource } from '@x/exchange/internal'
import { defaultBounds, type ParseBounds, type RpcRequest, type RpcResponse } from '@x/schema'
import { toHttpError, isUnsent } from './platform-error.ts'
import { flattenUserHeaders, describeOperation } from './headers.ts'
import { HttpError } from './http-error.ts'
import { reportHead, reportStateOfFailure } from './report-state.ts'
import type { HttpHeaders, HttpTarget, ResolvedConnectOptions } from './options.ts'
import type { HttpMethod, IncomingResponse, OutgoingRequest, Sender } from './sender.ts'
import { sendAuthorizedRequest } from './send-authorized.ts'

/** Attempts while no connection can be made. A server that restarts at the same address is then found again. */
const maxAttempts = 3

/** Longest pauses in milliseconds: `firstMs` before the second attempt, `maxMs` before the third. */
const retryPauses = { firstMs: 100, maxMs: 200 }

/** Redirects that a request follows: one to https, one to the path of the endpoint, and one more. */
// limit: redirects | count | redirects of a call | the call is rejected
const maxRedirects = 3

/**
 * Checks a response and its HTTP status. Rejects with {@link HttpError} `unsupported_version` if the server shows that
 * it implements only earlier revisions.
 */
export type CheckReply = (status: number, reply: Promise<RpcResponse>, request: RpcRequest) => Promise<RpcResponse>

/** What all requests to one endpoint share. */
export interface EndpointState {
  readonly endpoint: URL
  readonly options: ResolvedConnectOptions
  readonly sender: Sender
  readonly clock: Clock
  /** The user's headers, checked. `undefined` if a function of the user returns the headers of each request. */
  readonly fixedHeaders: readonly string[] | undefined
  readonly bounds: ParseBounds
  readonly closed: AbortSignal
  readonly states: ConnectionStateSource
  /** Checks each response. Undefined if the client also sends requests of earlier revisions. */
  readonly checkReply?: CheckReply | undefined
}

/** Checks an endpoint and its options. Throws a `TypeError` for an invalid URL or an invalid header. */
export function createEndpointState(
  url: string | URL,
  options: ResolvedConnectOptions,
  connection: Pick<EndpointState, 'sender' | 'closed' | 'states' | 'checkReply'>,
): EndpointState {
  const { headers, runtime: clock, maxMessageBytes } = options
  const fixedHeaders = typeof headers === 'function' ? undefined : flattenUserHeaders(headers)
  const bounds = { ...defaultBounds, bytes: maxMessageBytes }
  return { endpoint: toEndpointUrl(url), options, clock, fixedHeaders, bounds, ...connection }
}

export interface EndpointRequest {
  readonly method: HttpMethod
  readonly body: string | undefined
  /** The JSON-RPC request in the body or, if the body has none, the one that caused this HTTP request. */
  readonly relatedRequest: RpcRequest
  /** All headers of the request, the user's included, as alternating names and values. */
  readonly createHeaders: (userHeaders: readonly string[]) => readonly string[]
  /** False if a 401 or 403 must not begin an authorization. Default true. */
  readonly mayAuthorize?: boolean | undefined
}

/**
 * Sends a request with the headers of the user and of the authorizer, again if it did not reach the server, and along
 * redirects. What the outcome says about the server is recorded. Resolves with the response, and with the values of
 * request headers that no error may contain.
 */
export async function sendToEndpoint(
  endpointState: EndpointState,
  request: EndpointRequest,
  cancellation: Cancellation,
): Promise<{ readonly incomingResponse: IncomingResponse; readonly secrets: readonly string[] }> {
  const { states, endpoint } = endpointState
  const secrets: string[] = []
  try {
    const incomingResponse = await sendWithCredentials(endpointState, request, cancellation, secrets)
    reportHead(states, incomingResponse, endpoint.origin)
    return { incomingResponse, secrets }
  } catch (error) {
    if (!cancellation.isCancelled) reportStateOfFailure(states, error)
    throw error
  }
}

async function sendWithCredentials(
  endpointState: EndpointState,
  request: EndpointRequest,
  cancellation: Cancellation,
  secrets: string[],
): Promise<IncomingResponse> {
  const { options, endpoint } = endpointState
  const { method, body, relatedRequest } = request
  const userHeaders = endpointState.fixedHeaders ?? (await resolveUserHeaders(options, relatedRequest))
  const headers = request.createHeaders(userHeaders)
  secrets.push(...userHeaders.filter((_, index) => index % 2 === 1))
  const sendWithHeaders = (authHeaders: readonly string[]): Promise<IncomingResponse> => {
    for (let index = 1; index < authHeaders.length; index += 2) secrets.push(authHeaders[index] ?? '')
    return sendOutgoing(
      endpointState,
      withSignalOf({ url: endpoint, method, headers: [...headers, ...authHeaders], body }, cancellation),
    )
  }
  const { auth } = options
  if (auth === undefined) return sendWithHeaders([])
  const target: HttpTarget = {
    url: new URL(endpoint),
    method,
    operation: describeOperation(relatedRequest),
    signal: endpointState.closed,
  }
  const sendWithAuthHeaders = (authHeaders: HttpHeaders): Promise<IncomingResponse> =>
    sendWithHeaders(checkAuthHeaders(authHeaders, userHeaders))
  return request.mayAuthorize === false
    ? sendWithAuthHeaders(await auth.headers(target))
    : sendAuthorizedRequest(auth, target, sendWithAuthHeaders)
}

async function sendOutgoing(endpointState: EndpointState, outgoingRequest: OutgoingRequest): Promise<IncomingResponse> {
  if (isCancelled(outgoingRequest)) throw outgoingRequest.signal.reason
  try {
    return await followRedirects(endpointState, outgoingRequest)
  } catch (error) {
    throw toHttpError(error, endpointState.endpoint.origin)
  }
}

function checkAuthHeaders(authHeaders: HttpHeaders, userHeaders: readonly string[]): readonly string[] {
  const headers = flattenUserHeaders(authHeaders)
  const duplicateName = headers.find(
    (name, index) =>
      index % 2 === 0 && userHeaders.some((userHeaderName, at) => at % 2 === 0 && userHeaderName === name),
  )
  if (duplicateName === undefined) return headers
  throw new TypeError(`The header ${duplicateName} comes from \`auth\` and from \`headers\`: leave it to one of them`)
}

async function resolveUserHeaders(
  { headers }: ResolvedConnectOptions,
  request: RpcRequest,
): Promise<readonly string[]> {
  return typeof headers === 'function' ? flattenUserHeaders(await headers(request)) : []
}

async function followRedirects(
  endpointState: EndpointState,
  initialRequest: OutgoingRequest,
): Promise<IncomingResponse> {
  let outgoingRequest = initialRequest
  for (let redirectCount = 0; ; redirectCount += 1) {
    const { url } = outgoingRequest
    const incomingResponse = await sendWithRetry(endpointState, outgoingRequest)
    if (!isRedirect(incomingResponse.status)) return incomingResponse
    incomingResponse.stop()
    if (redirectCount >= maxRedirects) {
      const message = `more than ${maxRedirects} redirects`
      throw new HttpError('redirect', message, { origin: url.origin, status: incomingResponse.status })
    }
    outgoingRequest = { ...outgoingRequest, url: resolveRedirect(url, incomingResponse) }
  }
}

function toEndpointUrl(url: string | URL): URL {
  if (!URL.canParse(String(url)))
    throw new TypeError(`${describeUrl(url)} is not a URL; write one, as in http://localhost:3000/mcp`)
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

function describeUrl(url: unknown): string {
  return typeof url === 'string' ? quoteText(url) : `A value of the type ${typeof url}`
}

/**
 * Finds where a 307 or 308 leads. It must stay within the origin, or lead from http to https on the same host. Throws
 * {@link HttpError} `redirect` for any other, because another server must not receive the credentials, headers and
 * arguments of a request.
 */
export function resolveRedirect(sourceUrl: URL, incomingResponse: Pick<IncomingResponse, 'status' | 'header'>): URL {
  const { status } = incomingResponse
  const rejectRedirect = (problem: string): never => {
    throw new HttpError('redirect', `the server redirects (${status}) ${problem}`, {
      origin: sourceUrl.origin,
      status,
    })
  }
  const location = incomingResponse.header('location')
  if (location === undefined || !URL.canParse(location, sourceUrl.href))
    return rejectRedirect('without a readable Location')
  const target = new URL(location, sourceUrl)
  // The query may have secrets, such as the state of a login.
  const address = `${target.origin === sourceUrl.origin ? '' : target.origin}${target.pathname}`
  if (status !== 307 && status !== 308)
    return rejectRedirect(`to ${address}, and only 307 and 308 repeat a POST: is it the endpoint, or a login page?`)
  if (target.username !== '' || target.password !== '') return rejectRedirect('to an address with credentials in it')
  if (target.origin !== sourceUrl.origin && !isHttpsUpgrade(sourceUrl, target))
    return rejectRedirect(`to another origin, ${address}: if you trust it, connect to that address`)
  target.hash = ''
  return target
}

// Both URLs must use the default port, because another port of the host may belong to another owner.
function isHttpsUpgrade(sourceUrl: URL, target: URL): boolean {
  const isHttpToHttps = sourceUrl.protocol === 'http:' && target.protocol === 'https:'
  return isHttpToHttps && sourceUrl.hostname === target.hostname && sourceUrl.port === '' && target.port === ''
}

function isRedirect(status: number): boolean {
  return status === 0 || status === 301 || status === 302 || status === 303 || status === 307 || status === 308
}

/**
 * Sends a request again if an error proves that nothing was sent. A cancelled request is not sent again. Pauses between
 * the attempts are random and grow.
 */
async function sendWithRetry(
  { options, sender, clock }: EndpointState,
  outgoingRequest: OutgoingRequest,
): Promise<IncomingResponse> {
  const attempts = options.retry ? maxAttempts : 1
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sender.send(outgoingRequest)
    } catch (error) {
      if (attempt >= attempts || !isUnsent(error)) throw error
      await sleep(computeBackoffMs(attempt - 1, retryPauses), { clock, signal: outgoingRequest.signal })
    }
  }
}
