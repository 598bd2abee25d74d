import { isLimitError, isReadonlyArray, randomId } from '@x/core'
import {
  encodeMessage,
  errorCodes,
  errorResponse,
  isMcpError,
  type JsonObject,
  isNotification,
  isRequest,
  McpError,
  parseMessage,
  type RpcMessage,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { parseBatch } from '@x/schema/internal'
import { findRevision, revisionFeaturesOf } from '../../translate/revisions.ts'
import { hasProtocolVersion, isExtensionNotification } from '../../translate/request.ts'
import { answerInitialize } from '../session/initialize.ts'
import { toLegacyErrorResponse } from '../session/to-error-response.ts'
import { acceptAnswer } from './accept-answer.ts'
import { createResponseHead, rejectRequest, rejectSession, rejectWithError } from './errors.ts'
import type { HttpDeps, HttpPeer } from './http-deps.ts'
import { type PostedRequests, type RequestOrRejection, serveRequests } from './serve-requests.ts'
import { createStreamId } from './stream-id.ts'

/** As responses write it. Requests are read with its lower-case form. */
export const sessionHeader = 'Mcp-Session-Id'
const maxBatchLength = 32
const maxReasonLength = 200
/** Milliseconds for which an answer is held while the store is unreachable. */
const answerHoldMs = 20_000

/**
 * Serves an older client's POST. Resolves with false for a message that must be served as 2026-07-28, and for one of no
 * known revision.
 */
export async function servePost(view: HttpPeer['view'], http: HttpDeps): Promise<boolean> {
  const body = parseBody(view)
  if (body === undefined) return false
  // Lets go of the text: a call may wait for minutes, and its arguments are parsed already.
  view.bodyText = ''
  if (isReadonlyArray(body)) return serveBatch(body, view, http)
  // basic/versioning: a message that names its version in `_meta` is served as 2026-07-28, and its headers and method
  // do not matter.
  if ('method' in body && hasProtocolVersion(body.params)) return false
  if (isRequest(body) && body.method === 'initialize') return serveInitialize(body, view, http)
  const peer = await resolvePeer(view, http, { isAnswer: !('method' in body) })
  if (peer === 'rejected') return rejectSession(view)
  if (peer !== undefined) return serveMessage(body, peer, http)
  return 'method' in body ? false : rejectRequest(view, { status: 400, message: noWaiterMessage })
}

async function serveMessage(message: RpcMessage, peer: HttpPeer, http: HttpDeps): Promise<boolean> {
  if (isRequest(message)) {
    beginRequests({ requests: [message], isBatch: false, streamId: await createStreamIdFor(peer) }, peer, http)
    return true
  }
  if (!isNotification(message)) void acceptResponse(message, peer, http)
  else {
    // Notifications of extensions go to the server through the transport, for older revisions too.
    if (isExtensionNotification(message.method)) return false
    if (message.method === 'notifications/cancelled') cancelRequest(message.params ?? {}, peer, http)
    peer.view.reply.send({ status: 202 })
  }
  return true
}

/** Serves requests, and ends them if their session was ended while it was opened. */
function beginRequests(posted: PostedRequests, peer: HttpPeer, http: HttpDeps): void {
  serveRequests(posted, peer, http)
  const { session, view } = peer
  if (session === undefined) return
  const endIfNotLive = (isLive: boolean): void => {
    if (!isLive) http.sessionStates.end(session)
  }
  http.sessions.isLive(session, view).then(endIfNotLive).catch(http.callDeps.reportError)
}

function createStreamIdFor({ session }: HttpPeer): string | Promise<string> {
  return session === undefined ? randomId() : createStreamId(session.key)
}

const noWaiterMessage = 'No call waits for this response here'

/** Undefined for a malformed body, so that the transport rejects it. */
function parseBody({
  bodyText,
  limits,
}: HttpPeer['view']): RpcMessage | readonly (RpcMessage | McpError)[] | undefined {
  try {
    return parseBatch(bodyText, maxBatchLength, limits.bounds) ?? parseMessage(bodyText, limits.bounds)
  } catch (error) {
    if (isMcpError(error)) return undefined
    throw error
  }
}

async function serveInitialize(
  request: RpcRequest,
  view: HttpPeer['view'],
  { callDeps, sessions }: HttpDeps,
): Promise<true> {
  const initializedClient = await answerInitialize(request, view, callDeps)
  if ('error' in initializedClient) {
    const { error } = initializedClient
    view.reply.send({ ...createResponseHead(error), body: encodeMessage(error, view.limits.log) })
    return true
  }
  const { client, response } = initializedClient
  const id = await sessions.seal(client, view.principal)
  if (id === undefined) {
    const error = new McpError(errorCodes.invalidParams, 'clientInfo and capabilities are too large for a session id')
    view.reply.send({ status: 200, body: encodeMessage(errorResponse(request.id, error)) })
    return true
  }
  view.reply.send({ status: 200, headers: [sessionHeader, id], body: encodeMessage(response, view.limits.log) })
  return true
}

/**
 * Finds the client of a request: that of the session, or one of the revision in the header. `rejected` if the session
 * id is not accepted, and undefined if the revision is not served.
 */
async function resolvePeer(
  view: HttpPeer['view'],
  { callDeps, sessions }: HttpDeps,
  { isAnswer }: { readonly isAnswer: boolean },
): Promise<HttpPeer | 'rejected' | undefined> {
  const id = view.header('mcp-session-id')
  if (id !== undefined) {
    // Clients of older revisions do not send an answer again, so it is held while the store is unreachable.
    const timeoutMs = isAnswer ? answerHoldMs : 0
    const session = await callDeps.retryUnavailable(() => sessions.open(id, view), { timeoutMs })
    return session === undefined ? 'rejected' : { client: session, session, view }
  }
  // basic/transports, protocol version header: without this header, revision 2025-03-26 is assumed.
  const revision = findRevision(view.header('mcp-protocol-version') ?? '2025-03-26', callDeps.settings.revisions)
  if (revision === undefined) return undefined
  return { client: { revision, info: undefined, capabilities: {} }, session: undefined, view }
}

// A cancellation that comes too late is no error (basic/utilities/cancellation).
function cancelRequest(
  { requestId, reason }: JsonObject,
  { session }: HttpPeer,
  { sessionStates, link }: HttpDeps,
): void {
  if (session === undefined || (typeof requestId !== 'string' && typeof requestId !== 'number')) return
  const call = sessionStates.find(session)?.calls.get(requestId)
  if (call === undefined) link?.bus.publish('cancelled', { session: session.key, id: JSON.stringify(requestId) })
  else call.cancel(typeof reason === 'string' ? reason.slice(0, maxReasonLength) : undefined)
}

async function acceptResponse(response: RpcResponse, peer: HttpPeer, http: HttpDeps): Promise<void> {
  const { session, view } = peer
  const { callDeps } = http
  try {
    if (session !== undefined && (await acceptAnswer(response, { ...peer, session }, http))) {
      view.reply.send({ status: 202 })
      return
    }
    const advice = 'make the balancer send each Mcp-Session-Id to one instance (hash the header)'
    const message = `An answer arrived at an instance that waits for none; with several instances, ${advice}`
    callDeps.settings.warn({ code: 'unknown_answer', message })
    rejectRequest(view, { status: 400, message: noWaiterMessage })
  } catch (error) {
    if (!isLimitError(error)) callDeps.reportError(error)
    rejectWithError(view, toLegacyErrorResponse(undefined, error, callDeps).error)
  }
}

/** Only revision 2025-03-26 has batches. */
async function serveBatch(
  batch: readonly (RpcMessage | McpError)[],
  view: HttpPeer['view'],
  http: HttpDeps,
): Promise<boolean> {
  const peer = await resolvePeer(view, http, { isAnswer: false })
  if (peer === 'rejected') return rejectSession(view)
  if (peer === undefined || !revisionFeaturesOf(peer.client.revision).hasBatches) return false
  const requests = batch.flatMap((message): RequestOrRejection[] => {
    if (message instanceof McpError) return [{ rejection: errorResponse(undefined, message) }]
    if (isRequest(message)) return [toRequestOrRejection(message)]
    void serveMessage(message, { ...peer, view: withSilentReply(view) }, http)
    return []
  })
  if (requests.length === 0) view.reply.send({ status: 202 })
  else beginRequests({ requests, isBatch: true, streamId: await createStreamIdFor(peer) }, peer, http)
  return true
}

// basic/lifecycle of 2025-03-26: initialize is never part of a batch.
function toRequestOrRejection(request: RpcRequest): RequestOrRejection {
  if (request.method !== 'initialize') return request
  const error = new McpError(errorCodes.invalidRequest, 'initialize must not be part of a batch')
  return { rejection: errorResponse(request.id, error) }
}

function withSilentReply(view: HttpPeer['view']): HttpPeer['view'] {
  return { ...view, header: (name) => view.header(name), reply: { ...view.reply, send: () => {} } }
}
