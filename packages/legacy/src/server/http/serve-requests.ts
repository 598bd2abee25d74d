import { cancel, createCancellation, randomId, readSignal } from '@x/core'
import {
  callerKeyOf,
  errorCodes,
  errorResponse,
  McpError,
  type RequestId,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { revisionFeaturesOf } from '../../revisions.ts'
import { sharedMethods } from '../../translate/request.ts'
import { type CallChannel, type CallLink, CallHandedOffError } from '../call-channel.ts'
import { type ResumedCall, runLegacyCall } from '../legacy-call.ts'
import { serveLocalMethod, createUnknownMethodResponse } from '../local-methods.ts'
import type { LegacySessionState } from '../session-state.ts'
import { type CallStream, createCallStream } from './call-stream.ts'
import { createResponseHead } from './errors.ts'
import { createRequestSuffix } from './event-id.ts'
import {
  type HttpDeps,
  type HttpPeer,
  type LinkedCall,
  type SessionPeer,
  createClientSettings,
  type OwnedStream,
} from './http-deps.ts'

/** A request of a POST, or the error that is its answer. */
export type RequestOrRejection = RpcRequest | { readonly rejection: RpcResponse }

/** Serves the requests of one POST, which is one request but for a batch. */
export function serveRequests(
  requests: readonly RequestOrRejection[],
  peer: HttpPeer,
  http: HttpDeps & { isBatch: boolean },
): void {
  const postContext = openPostContext(requests, peer, http)
  for (const request of requests) {
    if ('rejection' in request) postContext.stream.respond(request.rejection)
    else void serveSingleRequest(request, postContext, http)
  }
}

/** The calls of one POST and their stream. */
interface PostContext {
  readonly peer: HttpPeer
  readonly stream: CallStream
  readonly state: LegacySessionState | undefined
  readonly isBatch: boolean
  /** Calls of this POST that run. */
  readonly activeCalls: Set<CancellableCall>
}

interface CancellableCall {
  readonly request: RpcRequest
  cancel(reason: string): void
}

function openPostContext(
  requests: readonly RequestOrRejection[],
  peer: HttpPeer,
  http: HttpDeps & { isBatch: boolean },
): PostContext {
  const { sessionStates, isBatch, link } = http
  const { session, view } = peer
  const state = session === undefined ? undefined : sessionStates.getOrCreate(session, callerKeyOf(view))
  const runningCalls = new Set<CancellableCall>()
  const options = createStreamOptions(peer, http)
  const [firstRequest] = requests
  const isLinked = link !== undefined && !isBatch && session !== undefined
  const stream = createCallStream(view.reply, {
    ...options,
    id: randomId(),
    responseCount: requests.length,
    ...(isLinked &&
      firstRequest !== undefined &&
      'id' in firstRequest && { eventIdSuffix: createRequestSuffix(firstRequest.id) }),
    isBatch,
    onDetach: () => state && sessionStates.makeRoomForStream(state),
    onEnd: () => endPostContext(stream, { activeCalls: runningCalls, state, sessionStates }),
  })
  if (session !== undefined) state?.streams.set(stream.id, stream)
  view.reply.onStop((phase) => {
    if (phase !== 'closing') return
    for (const { request, cancel: cancelRunningCall } of runningCalls) {
      const error = new McpError(errorCodes.internal, 'The server is stopping', { data: { reason: 'stopping' } })
      const response = errorResponse(request.id, error)
      stream.respond(response, createResponseHead(response))
      cancelRunningCall('The server is stopping')
    }
  })
  return { peer, stream, state, isBatch, activeCalls: runningCalls }
}

/** The options that all streams of a client share. */
function createStreamOptions({ session, client, view }: HttpPeer, { deps }: Pick<HttpDeps, 'deps' | 'sessionStates'>) {
  const { resumeWindowMs, closeAfterMs } = deps.settings
  const hasPrimingEvent = session !== undefined && revisionFeaturesOf(client.revision).hasPrimingEvents
  return {
    isResumable: session !== undefined,
    hasPrimingEvent,
    resumeWindowMs,
    closeAfterMs,
    limits: view.limits,
  }
}

interface EndedPostContext extends Pick<PostContext, 'activeCalls' | 'state'> {
  readonly sessionStates: HttpDeps['sessionStates']
}

function endPostContext({ id }: CallStream, { activeCalls, state, sessionStates }: EndedPostContext): void {
  for (const call of activeCalls) call.cancel('The client is gone')
  if (state === undefined) return
  state.streams.delete(id)
  sessionStates.removeIfEmpty(state)
}

/** A stream that another instance began, and a place for its call, which goes on here. */
export interface ResumedStream {
  readonly id: string
  /** Ends its event ids, where the instances are linked. */
  readonly requestId?: RequestId
  /** The number of its first event here. */
  readonly firstEventNumber: number
  /** Called when the stream is over. */
  onEnd(): void
}

/** Takes a stream over. It waits for its call to run for `answerTimeoutMs`, and for its reader. */
export function takeOverStream(resumedStream: ResumedStream, peer: SessionPeer, http: HttpDeps): OwnedStream {
  const { deps, sessionStates } = http
  const { session } = peer
  const { answerTimeoutMs, resumeWindowMs } = deps.settings
  const state = sessionStates.getOrCreate(session, callerKeyOf(peer.view))
  const runningCalls = new Set<CancellableCall>()
  let cancelTimer = (): void => {}
  const scheduleAbandon = (ms: number): void => {
    cancelTimer()
    cancelTimer = peer.view.limits.schedule(() => stream.abandon(), ms)
  }
  const stream = createCallStream(undefined, {
    ...createStreamOptions(peer, http),
    id: resumedStream.id,
    firstEventNumber: resumedStream.firstEventNumber,
    ...(resumedStream.requestId !== undefined && { eventIdSuffix: createRequestSuffix(resumedStream.requestId) }),
    responseCount: 1,
    isBatch: false,
    onDetach: () => sessionStates.makeRoomForStream(state),
    onEnd() {
      cancelTimer()
      resumedStream.onEnd()
      endPostContext(stream, { activeCalls: runningCalls, state, sessionStates })
    },
  })
  state.streams.set(stream.id, stream)
  scheduleAbandon(answerTimeoutMs)
  const runResumedCall = async (call: ResumedCall): Promise<void> => {
    const { request } = call.waitingCall
    cancelTimer()
    try {
      await serveCall(
        request,
        { peer, stream, state, isBatch: false, activeCalls: runningCalls },
        { ...http, resumedCall: call },
      )
    } catch (error) {
      deps.reportError(error)
      stream.respond(errorResponse(request.id, error))
    } finally {
      scheduleAbandon(resumeWindowMs)
    }
  }
  return { stream, owner: session.key, run: (call) => void runResumedCall(call) }
}

async function serveSingleRequest(request: RpcRequest, postContext: PostContext, http: HttpDeps): Promise<void> {
  const { stream, peer } = postContext
  try {
    const localResponse = serveLocalMethod(request, createClientSettings(peer, http), http.deps)
    if (localResponse !== undefined) return void stream.respond(await localResponse)
    if (!sharedMethods.has(request.method)) return void stream.respond(createUnknownMethodResponse(request))
    if (postContext.state?.calls.has(request.id) === true) {
      const message = 'A request with this id is still under way: give each request an id of its own'
      return void stream.respond(errorResponse(request.id, new McpError(errorCodes.invalidRequest, message)))
    }
    await serveCall(request, postContext, http)
  } catch (error) {
    http.deps.reportError(error)
    stream.respond(errorResponse(request.id, error))
  }
}

async function serveCall(
  request: RpcRequest,
  postContext: PostContext,
  { deps, sessionStates, link, resumedCall }: HttpDeps & { readonly resumedCall?: ResumedCall },
): Promise<void> {
  const { stream, state, activeCalls, peer } = postContext
  const cancellation = createCancellation()
  const call: CancellableCall & { readonly cancel: (reason: string) => void } = {
    request,
    cancel: (reason) => cancel(cancellation, new DOMException(reason, 'AbortError')),
  }
  const handOffCall = (): void => cancel(cancellation, new CallHandedOffError())
  const callLink = createCallLink(postContext, link, { handOff: handOffCall, isStored: resumedCall !== undefined })
  activeCalls.add(call)
  // basic/utilities/cancellation: no response is sent for a request that its client has cancelled.
  const cancelByClient = (): void => {
    call.cancel('The client cancelled the request')
    callLink?.finish(undefined)
  }
  state?.calls.set(request.id, { cancel: cancelByClient })
  try {
    const channel = createCallChannel(postContext, readSignal(cancellation), callLink)
    const legacyCall = { request, client: peer.client, level: state?.level ?? 'info', channel }
    const response = await runLegacyCall(legacyCall, deps, resumedCall)
    activeCalls.delete(call)
    // A status for one call of a batch would have its client send all of them again.
    const writtenEvent = stream.respond(
      response,
      createResponseHead(response, postContext.isBatch ? undefined : peer.view),
    )
    callLink?.finish(writtenEvent)
  } catch (error) {
    endUnansweredStream(error, cancellation.isCancelled, stream)
  } finally {
    activeCalls.delete(call)
    callLink?.release()
    if (state !== undefined) forgetCall(request, state, sessionStates)
  }
}

/** Ends a call that was cancelled, or that goes on at another instance. */
function endUnansweredStream(error: unknown, isCancelled: boolean, stream: CallStream): void {
  if (error instanceof CallHandedOffError) return stream.release()
  if (!isCancelled) throw error
  stream.skipResponse()
}

function forgetCall({ id }: RpcRequest, state: LegacySessionState, sessionStates: HttpDeps['sessionStates']): void {
  state.calls.delete(id)
  sessionStates.removeIfEmpty(state)
}

/** The link of a call with other instances; undefined for one that cannot go on there. */
function createCallLink(
  { peer: { session }, stream, isBatch }: PostContext,
  instanceLink: HttpDeps['link'],
  call: Pick<LinkedCall, 'handOff' | 'isStored'>,
): CallLink | undefined {
  return session === undefined || isBatch ? undefined : instanceLink?.linkCall({ ...call, session, stream })
}

function createCallChannel(
  { peer, stream }: PostContext,
  signal: AbortSignal,
  link: CallLink | undefined,
): CallChannel {
  const { session, view } = peer
  return {
    caller: view,
    signal,
    owner: session?.key,
    timeoutMs: view.limits.timeoutMs,
    notify: (message) => stream.send(message, true),
    sessionStream: session && { session, streamId: stream.id, countEvents: () => stream.eventCount },
    link,
    ask: (question) =>
      question.state === undefined && link === undefined ? stream.send(question, false) : stream.ask(question),
    onAnswered: () => stream.markAnswered(),
    notifyOfQuestion: (message) => stream.send(message, false),
  }
}
