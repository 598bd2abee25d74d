import {
  type Cancellable,
  type Cancellation,
  abortReasonOf,
  type Clock,
  computeBackoffMs,
  isCancelled,
  platformRuntime,
  sleep,
  withCancellation,
} from '@x/core'
import { defaultBounds, type ParseBounds, type RpcRequest, type RpcResponse } from '@x/schema'
import { toHttpError, isUnsent } from './platform-error.ts'
import { flattenUserHeaders, describeOperation } from './headers.ts'
import { HttpError } from './http-error.ts'
import { connectDefaults, type HttpConnectOptions, type HttpHeaders, type HttpTarget } from './options.ts'
import type { HttpMethod, IncomingResponse, OutgoingRequest, Sender } from './sender.ts'
import { sendAuthorizedRequest } from './send-authorized.ts'

/** Attempts to send a request while no connection can be made, for a server that restarts at the same address. */
const maxAttempts = 3

/** The longest pauses before the second and the third attempt, in milliseconds. */
const retryPauses = { firstMs: 100, maxMs: 200 }

/** Redirects that a request follows: one to https, one to the path of the endpoint, and one more. */
const maxRedirects = 3

/**
 * Checks the response to a request and its HTTP status. Rejects with {@link HttpError} `unsupported_version` for a
 * response that shows a server of earlier revisions.
 */
export type CheckReply = (status: number, reply: Promise<RpcResponse>, request: RpcRequest) => Promise<RpcResponse>

/** State that the requests to one endpoint share. */
export interface EndpointState {
  readonly endpoint: URL
  readonly options: HttpConnectOptions
  readonly sender: Sender
  readonly clock: Clock
  /** The user's headers, checked. `undefined` when a function gives them per request. */
  readonly fixedHeaders: readonly string[] | undefined
  readonly bounds: ParseBounds
  readonly maxStreamBytes: number
  readonly closed: AbortSignal
  /** Checks responses. Undefined for a connection that also sends requests of earlier revisions. */
  readonly checkReply?: CheckReply | undefined
}

/** Checks an endpoint and its options. Throws a `TypeError` for an invalid address or invalid headers. */
export function createEndpointState(
  url: string | URL,
  options: HttpConnectOptions,
  connection: Pick<EndpointState, 'sender' | 'closed' | 'checkReply'>,
): EndpointState {
  const { headers = {}, runtime: clock = platformRuntime } = options
  const { maxMessageBytes = connectDefaults.maxMessageBytes, maxStreamBytes = connectDefaults.maxStreamBytes } = options
  const fixedHeaders = typeof headers === 'function' ? undefined : flattenUserHeaders(headers)
  const bounds = { ...defaultBounds, bytes: maxMessageBytes }
  return { endpoint: toEndpointUrl(url), options, clock, fixedHeaders, bounds, maxStreamBytes, ...connection }
}

/** One HTTP request to the endpoint. */
export interface EndpointRequest {
  readonly method: HttpMethod
  readonly body: string | undefined
  /** The JSON-RPC request in the body, or the one that this HTTP request belongs to. */
  readonly relatedRequest: RpcRequest
  /** Returns all headers of the request, the user's included, as alternating names and values. */
  readonly createHeaders: (userHeaders: readonly string[]) => readonly string[]
  /** False for a request after whose 401 or 403 no authorization is begun. */
  readonly mayAuthorize?: boolean | undefined
}

/** The response, and the values of sent headers that an error must not contain. */
export interface EndpointResponse {
  readonly incomingResponse: IncomingResponse
  readonly secrets: readonly string[]
}

/**
 * Sends a request with the headers of the user and the authorizer. Retries a request that did not reach the server, and
 * follows redirects.
 */
export async function sendToEndpoint(
  endpointState: EndpointState,
  request: EndpointRequest,
  cancellation: Cancellation,
): Promise<EndpointResponse> {
  const { options, endpoint } = endpointState
  const { method, body, relatedRequest } = request
  const userHeaders = endpointState.fixedHeaders ?? (await resolveUserHeaders(options, relatedRequest))
  const headers = request.createHeaders(userHeaders)
  const secrets = userHeaders.filter((_, index) => index % 2 === 1)
  const sendWithHeaders = (authHeaders: readonly string[]): Promise<IncomingResponse> => {
    for (let index = 1; index < authHeaders.length; index += 2) secrets.push(authHeaders[index] ?? '')
    return sendOutgoing(
      endpointState,
      withCancellation({ url: endpoint, method, headers: [...headers, ...authHeaders], body }, cancellation),
    )
  }
  const { auth } = options
  if (auth === undefined) return { incomingResponse: await sendWithHeaders([]), secrets }
  const target: HttpTarget = {
    url: new URL(endpoint),
    method,
    operation: describeOperation(relatedRequest),
    signal: endpointState.closed,
  }
  const sendWithAuthHeaders = (authHeaders: HttpHeaders): Promise<IncomingResponse> =>
    sendWithHeaders(checkAuthHeaders(authHeaders, userHeaders))
  const incomingResponse =
    request.mayAuthorize === false
      ? await sendWithAuthHeaders(await auth.headers(target))
      : await sendAuthorizedRequest(auth, target, sendWithAuthHeaders)
  return { incomingResponse, secrets }
}

async function sendOutgoing(endpointState: EndpointState, outgoingRequest: OutgoingRequest): Promise<IncomingResponse> {
  if (isCancelled(outgoingRequest)) throw abortReasonOf(outgoingRequest)
  try {
    return await followRedirects(endpointState, outgoingRequest)
  } catch (error) {
    throw toHttpError(error, endpointState.endpoint.origin)
  }
}

/** Returns the headers of the authorizer. Throws a `TypeError` for a header that the user has set as well. */
function checkAuthHeaders(authHeaders: HttpHeaders, userHeaders: readonly string[]): readonly string[] {
  const headers = flattenUserHeaders(authHeaders)
  const duplicateName = headers.find(
    (name, index) =>
      index % 2 === 0 && userHeaders.some((userHeaderName, at) => at % 2 === 0 && userHeaderName === name),
  )
  if (duplicateName === undefined) return headers
  throw new TypeError(`The header ${duplicateName} comes from \`auth\` and from \`headers\`: leave it to one of them`)
}

async function resolveUserHeaders({ headers }: HttpConnectOptions, request: RpcRequest): Promise<readonly string[]> {
  return typeof headers === 'function' ? flattenUserHeaders(await headers(request)) : []
}

async function followRedirects(
  endpointState: EndpointState,
  initialRequest: OutgoingRequest,
): Promise<IncomingResponse> {
  const { options, sender, clock } = endpointState
  const attempts = (options.retry ?? connectDefaults.retry) ? maxAttempts : 1
  let outgoingRequest = initialRequest
  for (let redirectCount = 0; ; redirectCount += 1) {
    const { url } = outgoingRequest
    const attemptedRequest = outgoingRequest
    const retryContext = { attempts, isUnsent, request: outgoingRequest, clock }
    const incomingResponse = await withRetry(() => sender.send(attemptedRequest), retryContext)
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

/**
 * Returns the target of a redirect with the status 307 or 308, within the same origin or from http to https of the same
 * host. Throws {@link HttpError} `redirect` for any other redirect, because the credentials, headers and arguments of a
 * request are meant for this server alone.
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
  if (status !== 307 && status !== 308)
    return rejectRedirect('in a way that does not repeat a POST; it must use 307 or 308')
  if (target.username !== '' || target.password !== '') return rejectRedirect('to an address with credentials in it')
  if (target.origin !== sourceUrl.origin && !isHttpsUpgrade(sourceUrl, target))
    return rejectRedirect(`to another origin, ${target.origin}`)
  target.hash = ''
  return target
}

// Both URLs must use the default port, because another port of the host may belong to another owner.
function isHttpsUpgrade(sourceUrl: URL, target: URL): boolean {
  const isHttpToHttps = sourceUrl.protocol === 'http:' && target.protocol === 'https:'
  return isHttpToHttps && sourceUrl.hostname === target.hostname && sourceUrl.port === '' && target.port === ''
}

/** Returns true if a status is a redirect. A browser hides its target and gives status 0. */
function isRedirect(status: number): boolean {
  return status === 0 || status === 301 || status === 302 || status === 303 || status === 307 || status === 308
}

/** The settings of {@link withRetry}. */
interface RetryContext {
  readonly attempts: number
  /** Returns true for an error that proves that the request did not reach the server. */
  readonly isUnsent: (error: unknown) => boolean
  /** The request. It is not sent again after it was cancelled. */
  readonly request: Cancellable
  readonly clock: Clock
}

/** Runs an operation again while its failures prove that nothing was sent, after random pauses that grow. */
async function withRetry<T>(operation: () => Promise<T>, context: RetryContext): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await operation()
    } catch (error) {
      if (attempt >= context.attempts || !context.isUnsent(error)) throw error
      const retryDelayMs = computeBackoffMs(attempt - 1, retryPauses)
      await sleep(retryDelayMs, { clock: context.clock, signal: context.request.signal })
    }
  }
}
