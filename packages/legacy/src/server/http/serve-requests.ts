import { isLimitError, isUnavailable, Cancellation } from '@x/core'
import { callerKeyOf, type HttpReply, stoppingError } from '@x/exchange'
import { errorCodes, errorResponse, McpError, type RequestId, type RpcRequest, type RpcResponse } from '@x/schema'
import { revisionFeaturesOf } from '../../translate/revisions.ts'
import { CallHandedOffError } from '../call/call-channel.ts'
import { runLegacyCall } from '../call/legacy-call.ts'
import { serveLocalMethod } from '../session/local-methods.ts'
import { toLegacyErrorResponse } from '../session/to-error-response.ts'
import { type CallContext, type CancellableCall, createCallChannel, createLinkedCall } from './call-context.ts'
import { CallStream, type CallStreamOptions } from './call-stream.ts'
import { createResponseHead } from './errors.ts'
import { createClientSettings, type HttpDeps } from './http-deps.ts'

/** A request of a POST, or the error response that rejects it. */
export type RequestOrRejection = RpcRequest | { readonly rejection: RpcResponse }

export interface PostedRequests {
  readonly requests: readonly RequestOrRejection[]
  readonly isBatch: boolean
  /** Id of the stream of their responses. */
  readonly streamId: string
}

/** Serves the requests of one POST: one, or several in a batch. */
export function serveRequests(posted: PostedRequests, peer: CallContext['peer'], http: HttpDeps): void {
  const { requests, isBatch, streamId } = posted
  const [firstRequest] = requests
  const callContext = openCallContext(
    {
      id: streamId,
      reply: peer.view.reply,
      firstEventNumber: 1,
      responseCount: requests.length,
      isBatch,
      requestId: firstRequest !== undefined && 'id' in firstRequest ? firstRequest.id : undefined,
    },
    peer,
    http,
  )
  for (const request of requests) {
    if ('rejection' in request) callContext.stream.respond(request.rejection)
    else void serveSingleRequest(request, callContext, http)
  }
}

/**
 * Continues the call of a round whose questions another instance sent. It waits for the answers, and its stream for the
 * client to reconnect.
 */
export function serveAdoptedRound(
  round: NonNullable<CallContext['round']>,
  peer: CallContext['peer'],
  { http, firstEventNumber }: { readonly http: HttpDeps; readonly firstEventNumber: number },
): CallStream {
  const { request, streamId } = round
  const streamInit = { id: streamId, reply: undefined, firstEventNumber, responseCount: 1, isBatch: false }
  const callContext = openCallContext({ ...streamInit, requestId: request.id }, peer, http)
  const keepForReader = (): void => callContext.stream.extendWindow({ hasRemoteReader: false })
  // Perhaps the client has left, so the call waits no longer than for one that has disconnected here.
  keepForReader()
  void serveSingleRequest(request, { ...callContext, round }, http).then(keepForReader)
  return callContext.stream
}

function openCallContext(
  {
    reply,
    requestId,
    ...init
  }: Pick<CallStreamOptions, 'id' | 'firstEventNumber' | 'responseCount' | 'isBatch'> & {
    readonly reply: HttpReply | undefined
    readonly requestId: RequestId | undefined
  },
  peer: CallContext['peer'],
  http: HttpDeps,
): CallContext {
  const { callDeps, sessionStates, finishedStreams, link } = http
  const { session, view, client } = peer
  const callerKey = callerKeyOf(view)
  const state = session === undefined ? undefined : sessionStates.getOrCreate(session, callerKey)
  const activeCalls = new Set<CancellableCall>()
  const { resumeWindowMs, closeAfterMs, keepsStreams } = callDeps.settings
  const isResumable = session !== undefined && keepsStreams
  const isLinked = link !== undefined && !init.isBatch && session !== undefined
  const stream: CallStream = new CallStream(reply, {
    ...init,
    requestIdInEvents: isLinked ? requestId : undefined,
    isResumable,
    hasPrimingEvent: isResumable && revisionFeaturesOf(client.revision).hasPrimingEvents,
    resumeWindowMs,
    closeAfterMs,
    limits: view.limits,
    takeBytes: (byteCount) => callDeps.ledger.take('bytes', callerKey, byteCount),
    onFinish: (events) => session && finishedStreams.keep({ id: init.id, session, callerKey, events }),
    onDetach: () => state && sessionStates.makeRoomForStream(state),
    onEnd: () => endCallContext(stream, { activeCalls, state }, sessionStates),
  })
  state?.streams.set(stream.id, stream)
  reply?.onStop((phase) => {
    if (phase !== 'closing') return
    for (const { request, cancel: cancelActiveCall } of activeCalls) {
      const response = errorResponse(request.id, stoppingError())
      stream.respond(response, createResponseHead(response))
      cancelActiveCall('The server is stopping')
    }
  })
  return { peer, stream, state, isBatch: init.isBatch, activeCalls, round: undefined }
}

function endCallContext(
  { id }: CallStream,
  { activeCalls, state }: Pick<CallContext, 'activeCalls' | 'state'>,
  sessionStates: HttpDeps['sessionStates'],
): void {
  for (const call of activeCalls) call.cancel('The client has disconnected')
  if (state === undefined) return
  state.streams.delete(id)
  sessionStates.removeIfEmpty(state)
}

async function serveSingleRequest(request: RpcRequest, callContext: CallContext, http: HttpDeps): Promise<void> {
  const { stream, peer } = callContext
  try {
    const localResponse = serveLocalMethod(request, createClientSettings(peer, http), http.callDeps)
    if (localResponse !== undefined) return void respond(await localResponse, request, callContext)
    if (callContext.state?.calls.has(request.id) === true) {
      const message = 'A request with this id has not been answered yet: give each request an id of its own'
      return void stream.respond(errorResponse(request.id, new McpError(errorCodes.invalidRequest, message)))
    }
    await serveCall(request, callContext, http)
  } catch (error) {
    if (!isLimitError(error) && !isUnavailable(error)) http.callDeps.reportError(error)
    respond(toLegacyErrorResponse(request.id, error, http.callDeps), request, callContext)
  }
}

/** A response of a batch does not set the HTTP status, because the client would then send the whole batch again. */
function respond(
  response: RpcResponse,
  request: RpcRequest,
  { stream, isBatch, peer }: CallContext,
): ReturnType<CallStream['respond']> {
  const head = createResponseHead(response, peer.view, request)
  return stream.respond(response, isBatch ? createResponseHead(response) : head)
}

async function serveCall(request: RpcRequest, callContext: CallContext, http: HttpDeps): Promise<void> {
  const { stream, state, activeCalls, peer, round } = callContext
  const { callDeps, sessionStates } = http
  const cancellation = new Cancellation()
  const call: CancellableCall = {
    request,
    cancel: (reason) => cancellation.cancel(new DOMException(reason, 'AbortError')),
  }
  const linkedCall = createLinkedCall(callContext, http)
  activeCalls.add(call)
  // basic/utilities/cancellation: if the client has cancelled a request, no response is sent.
  const cancelByClient = (reason = 'The client cancelled the request'): void => {
    call.cancel(reason)
    linkedCall?.finish(undefined)
  }
  state?.calls.set(request.id, { cancel: cancelByClient })
  try {
    const handOff = (): void => cancellation.cancel(new CallHandedOffError())
    const channel = createCallChannel(callContext, cancellation, { linkedCall, handOff })
    const legacyCall = { request, client: peer.client, level: state?.level ?? 'info', channel }
    const response = await runLegacyCall(legacyCall, callDeps, round)
    activeCalls.delete(call)
    const writtenEvent = respond(response, request, callContext)
    linkedCall?.finish(writtenEvent)
  } catch (error) {
    if (error instanceof CallHandedOffError) stream.release()
    else if (cancellation.isCancelled) stream.skipResponse()
    else throw error
  } finally {
    activeCalls.delete(call)
    state?.calls.delete(request.id)
    if (state !== undefined) sessionStates.removeIfEmpty(state)
  }
}
