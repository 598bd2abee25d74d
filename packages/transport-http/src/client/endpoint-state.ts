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

/** Tries of a request while no connection can be made: enough for the restart of a server behind a fixed address. */
const maxAttempts = 3

/** Milliseconds of the longest pause before the second and before the third try. */
const retryPauses = { firstMs: 100, maxMs: 200 }

/** Redirects that a request follows: one to https, one to the path of the endpoint, and one more. */
const maxRedirects = 3

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
  /** The user's headers, checked. `undefined` when a function gives them per request. */
  readonly fixedHeaders: readonly string[] | undefined
  readonly bounds: ParseBounds
  readonly maxStreamBytes: number
  readonly closed: AbortSignal
  /** Looks at replies. Absent where requests of earlier revisions are sent as well. */
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
  /** The message that it carries or is about. */
  readonly relatedRequest: RpcRequest
  /** Its headers, with the user's own among them, as names and values in turn. */
  readonly createHeaders: (userHeaders: readonly string[]) => readonly string[]
  /** False for a request whose 401 or 403 is its answer. */
  readonly mayAuthorize?: boolean | undefined
}

/** The response, and the values that were sent and must not appear in an error. */
export interface EndpointResponse {
  readonly incomingResponse: IncomingResponse
  readonly secrets: readonly string[]
}

/**
 * Sends a request with the user's headers and those of the authorizer, again where that harms nothing, and along
 * redirects.
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

/** The headers of an authorizer, none of which the user has set as well. */
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
 * Returns the target of a redirect that may be followed: the same request again (307, 308), within the same origin or
 * to the same host's https. Everything else is refused, because a request carries credentials, headers and arguments
 * that were meant for this server alone. Throws {@link HttpError} with the code `redirect`.
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

// Both on their default ports, because another port of the same host may belong to another owner.
function isHttpsUpgrade(sourceUrl: URL, target: URL): boolean {
  const isHttpToHttps = sourceUrl.protocol === 'http:' && target.protocol === 'https:'
  return isHttpToHttps && sourceUrl.hostname === target.hostname && sourceUrl.port === '' && target.port === ''
}

/** Returns true if a status is a redirect. A browser hides its target and gives status 0. */
function isRedirect(status: number): boolean {
  return status === 0 || status === 301 || status === 302 || status === 303 || status === 307 || status === 308
}

/** The settings of a step that may be tried again. */
interface RetryContext {
  readonly attempts: number
  /** Returns true if nothing can have happened on the server. */
  readonly isUnsent: (error: unknown) => boolean
  /** The request that is tried. It is not tried again once it is cancelled. */
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
