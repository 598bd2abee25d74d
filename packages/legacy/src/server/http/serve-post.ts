import {
  encodeMessage,
  errorCodes,
  errorResponse,
  type HttpRequestView,
  isJsonObject,
  isMcpError,
  isNotification,
  isRequest,
  McpError,
  parseBatch,
  parseMessage,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  type StatefulResponse,
} from '@x/schema'
import { findRevision, revisionFeaturesOf } from '../../revisions.ts'
import { hasProtocolVersion } from '../../translate/request.ts'
import { answerInitialize } from '../initialize.ts'
import { createResponseHead, rejectRequest, rejectSession } from './errors.ts'
import type { HttpDeps, HttpPeer, SessionPeer } from './http-deps.ts'
import { resumeCall } from './resume-call.ts'
import { type RequestOrRejection, serveRequests } from './serve-requests.ts'

/** Response header, and lower-case request header, of the session. */
export const sessionHeader = 'Mcp-Session-Id'
const maxBatchLength = 32

/** Serves a POST of an older client; false for a message of 2026-07-28, and for one that no revision could take. */
export async function servePost(view: HttpRequestView, http: HttpDeps): Promise<boolean> {
  const body = parseBody(view)
  if (body === undefined) return false
  if (isBatch(body)) return serveBatch(body, view, http)
  // basic/versioning: what states its version is served by this revision, whatever its headers and method say.
  if ('method' in body && hasProtocolVersion(body.params)) return false
  if (isRequest(body) && body.method === 'initialize') return serveInitialize(body, view, http)
  const peer = await resolvePeer(view, http)
  if (peer === 'rejected') return rejectSession(view)
  if (peer !== undefined) return serveMessage(body, peer, http)
  return 'method' in body ? false : rejectRequest(view, { status: 400, message: noWaiterMessage })
}

function serveMessage(message: RpcMessage, peer: HttpPeer, http: HttpDeps): true {
  if (isRequest(message)) serveRequests([message], peer, { ...http, isBatch: false })
  else if (isNotification(message)) acceptNotification(message, peer, http)
  else void acceptResponse(message, peer, http)
  return true
}

const noWaiterMessage = 'Nobody waits for this response here'

type PostBody = RpcMessage | readonly (RpcMessage | McpError)[]

/** Leaves a body that cannot be read to the transport, which rejects it. */
function parseBody({ bodyText, limits }: HttpRequestView): PostBody | undefined {
  try {
    return parseBatch(bodyText, maxBatchLength, limits.bounds) ?? parseMessage(bodyText, limits.bounds)
  } catch (error) {
    if (isMcpError(error)) return undefined
    throw error
  }
}

function isBatch(body: PostBody): body is readonly (RpcMessage | McpError)[] {
  return Array.isArray(body)
}

async function serveInitialize(
  request: RpcRequest,
  view: HttpRequestView,
  { deps, sessions }: HttpDeps,
): Promise<true> {
  const initializedClient = await answerInitialize(request, view, deps)
  if ('error' in initializedClient) {
    view.reply.send({ ...createResponseHead(initializedClient.error), body: encodeMessage(initializedClient.error) })
    return true
  }
  const { client, response } = initializedClient
  const id = await sessions.seal(client, view.principal)
  if (id === undefined) {
    const error = new McpError(errorCodes.invalidParams, 'clientInfo and capabilities are too large for a session id')
    view.reply.send({ status: 200, body: encodeMessage(errorResponse(request.id, error)) })
    return true
  }
  view.reply.send({ status: 200, headers: [sessionHeader, id], body: encodeMessage(response) })
  return true
}

/** The client of a request: by its session, or by the revision that its header names. */
async function resolvePeer(
  view: HttpRequestView,
  { deps, sessions }: HttpDeps,
): Promise<HttpPeer | 'rejected' | undefined> {
  const id = view.header('mcp-session-id')
  if (id !== undefined) {
    const session = await sessions.open(id, view)
    return session === undefined ? 'rejected' : { client: session, session, view }
  }
  const revision = findRevision(view.header('mcp-protocol-version'), deps.settings.revisions)
  if (revision === undefined) return undefined
  return { client: { revision, info: undefined, capabilities: {} }, session: undefined, view }
}

function acceptNotification(
  { method, params }: RpcNotification,
  { session, view }: HttpPeer,
  { sessionStates, link }: HttpDeps,
): void {
  if (method === 'notifications/cancelled' && session !== undefined && isJsonObject(params)) {
    const { requestId } = params
    const isValidId = typeof requestId === 'string' || typeof requestId === 'number'
    // One that comes too late is nothing to complain of (basic/utilities/cancellation).
    const call = isValidId ? sessionStates.find(session)?.calls.get(requestId) : undefined
    if (call !== undefined) call.cancel()
    else if (isValidId) link?.cancelRequest(session, requestId)
  }
  view.reply.send({ status: 202 })
}

async function acceptResponse(response: RpcResponse, peer: HttpPeer, http: HttpDeps): Promise<void> {
  const { session, view } = peer
  const { deps } = http
  try {
    if (session !== undefined && (await acceptAnswer(response, { ...peer, session }, http))) {
      view.reply.send({ status: 202 })
      return
    }
    warnUnknownAnswer(deps.settings.warn)
    rejectRequest(view, { status: 400, message: noWaiterMessage })
  } catch (error) {
    deps.reportError(error)
    rejectRequest(view, { status: 503, message: 'The answer cannot be taken now', headers: ['Retry-After', '1'] })
  }
}

/**
 * Passes an answer to the call that waits, or to one that its state brings. What came back is checked before it is
 * used.
 */
async function acceptAnswer(response: StatefulResponse, peer: SessionPeer, http: HttpDeps): Promise<boolean> {
  const { questions, questionStates, settings } = http.deps
  const { session } = peer
  const question = questions.find(session.key, response.id)
  const { state } = response
  if (questionStates === undefined || question?.hasState === false) return forwardAnswer(response, peer, http)
  if (state === undefined) {
    if (question === undefined) return forwardAnswer(response, peer, http)
    // SEP-1685, backward compatibility: without the echo the answer goes to the call that this instance keeps.
    questionStates.missingEchoCount += 1
    settings.warn({ code: 'missing_echo', message: 'A client did not return the state of a question' })
    return forwardAnswer(response, peer, http)
  }
  const openedState = await questionStates.open(state, { session, questionId: String(response.id) })
  if (openedState === undefined) return false
  if (await forwardAnswer(response, peer, http)) return true
  return question === undefined && resumeCall(openedState, response, { peer, http })
}

/** Passes an answer to the call that waits here or, over the link, elsewhere. */
async function forwardAnswer(response: RpcResponse, peer: SessionPeer, { deps, link }: HttpDeps): Promise<boolean> {
  const { key } = peer.session
  const question = deps.questions.find(key, response.id)
  if (link === undefined || question?.isStored === false) return deps.questions.answer(key, response)
  return link.takeAnswer(response, peer)
}

function warnUnknownAnswer(warn: HttpDeps['deps']['settings']['warn']): void {
  const advice = 'have the balancer send each Mcp-Session-Id to one instance (hash the header)'
  const message = `An answer came to an instance that waits for none; with several instances, ${advice}`
  warn({ code: 'unknown_answer', message })
}

/** A batch of 2025-03-26, the one revision that has them: each message is served by itself. */
async function serveBatch(
  batch: readonly (RpcMessage | McpError)[],
  view: HttpRequestView,
  http: HttpDeps,
): Promise<boolean> {
  const peer = await resolvePeer(view, http)
  if (peer === 'rejected') return rejectSession(view)
  if (peer === undefined || !revisionFeaturesOf(peer.client.revision).hasBatches) return false
  const requests = batch.flatMap((message): RequestOrRejection[] => {
    if (message instanceof McpError) return [{ rejection: errorResponse(undefined, message) }]
    if (isRequest(message)) return [toRequestOrRejection(message)]
    serveMessage(message, { ...peer, view: withSilentReply(view) }, http)
    return []
  })
  if (requests.length === 0) view.reply.send({ status: 202 })
  else serveRequests(requests, peer, { ...http, isBatch: true })
  return true
}

// basic/lifecycle of 2025-03-26: initialize is never part of a batch.
function toRequestOrRejection(request: RpcRequest): RequestOrRejection {
  if (request.method !== 'initialize') return request
  const error = new McpError(errorCodes.invalidRequest, 'initialize must not be part of a batch')
  return { rejection: errorResponse(request.id, error) }
}

/** The same request, whose answer is not given by what serves one message of it. */
function withSilentReply(view: HttpRequestView): HttpRequestView {
  return { ...view, header: (name) => view.header(name), reply: { ...view.reply, send: () => {} } }
}
