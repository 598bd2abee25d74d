import { callerKeyOf, type HttpRequestView } from '@x/exchange'
import { encodeMessage } from '@x/schema'
import { revisionFeaturesOf } from '../../translate/revisions.ts'
import { ChangeSubscription, requestNotifiableKinds } from '../session/change-subscription.ts'
import type { Session } from '../session/session.ts'
import type { CallStream } from './call-stream.ts'
import { rejectRequest, rejectSession, rejectWithError } from './errors.ts'
import { type ParsedEventId, parseEventId } from './event-id.ts'
import type { HttpDeps } from './http-deps.ts'
import { isStreamOf } from './stream-id.ts'
import { withClientSession } from '../session/client-session.ts'

/**
 * Serves a GET, which resumes a stream or opens the one for messages that belong to no call (basic/transports,
 * listening for messages).
 */
export async function serveGet(view: HttpRequestView, http: HttpDeps): Promise<true> {
  const id = view.header('mcp-session-id')
  if (id === undefined)
    return rejectRequest(view, {
      status: 405,
      message: 'A GET needs the session that initialize gives',
      headers: ['Allow', 'POST'],
    })
  if (!acceptsEventStream(view.header('accept')))
    return rejectRequest(view, { status: 406, message: 'The Accept must allow text/event-stream' })
  const session = await http.sessions.open(id, view)
  if (session === undefined) return rejectSession(view)
  const lastEventId = view.header('last-event-id')
  if (lastEventId !== undefined && lastEventId !== '')
    return resumeStream(lastEventId, session, repeatEventId(view, lastEventId, session), http)
  const { callDeps } = http
  const notifiableKinds = await requestNotifiableKinds(session, view, callDeps)
  if (!notifiableKinds.notifiesListChanges && !notifiableKinds.hasResourceUpdates) {
    return rejectRequest(view, {
      status: 405,
      message: 'This server sends messages only during calls',
      headers: ['Allow', 'POST, DELETE'],
    })
  }
  return openListeningStream(session, view, http)
}

/**
 * Serves a DELETE, which ends a session with its calls and its streams. If the caller has ended more sessions than this
 * process can remember, calls and streams end all the same, but the id stays valid until it expires, and the response
 * is 405, which clients accept. 429 would be wrong, because the bound can last for a day.
 */
export async function serveDelete(view: HttpRequestView, http: HttpDeps): Promise<true> {
  const { sessions, sessionStates, finishedStreams, link } = http
  const id = view.header('mcp-session-id')
  if (id === undefined)
    return rejectRequest(view, {
      status: 405,
      message: 'A DELETE needs the session that it ends',
      headers: ['Allow', 'POST'],
    })
  const session = await sessions.open(id, view)
  if (session === undefined) return rejectSession(view)
  await link?.sessions.change(session, callerKeyOf(view), (storedSession) => ({ ...storedSession, isEnded: true }))
  const isEnded = sessions.end(session, view)
  sessionStates.end(session)
  finishedStreams.dropSession(session)
  if (!isEnded) {
    const message = 'The id of this session stays valid until it expires, because too many sessions were ended before'
    return rejectRequest(view, { status: 405, message, headers: ['Allow', 'GET, POST'] })
  }
  view.reply.send({ status: 204 })
  return true
}

function acceptsEventStream(accept: string | undefined): boolean {
  if (accept === undefined) return true
  const mediaRanges = accept.toLowerCase().split(',')
  return mediaRanges.some((mediaRange) =>
    ['text/event-stream', 'text/*', '*/*'].includes(mediaRange.split(';', 1)[0]?.trim() ?? ''),
  )
}

/**
 * Begins the response to a client that resumes a stream with the event id that it sent. A client knows only the ids of
 * its last connection, so if this one breaks before another event, it could not resume again.
 */
function repeatEventId(view: HttpRequestView, lastEventId: string, { revision }: Session): HttpRequestView {
  if (!revisionFeaturesOf(revision).hasPrimingEvents) return view
  const { reply } = view
  const open: typeof reply.open = (headers) => {
    reply.open(headers)
    reply.write(`id: ${lastEventId}\ndata: \n\n`)
  }
  return { ...view, reply: { ...reply, open } }
}

/** Resumes a stream of a session. One of another session gets the same response as an unknown one. */
async function resumeStream(
  lastEventId: string,
  session: Session,
  view: HttpRequestView,
  http: HttpDeps,
): Promise<true> {
  const eventId = parseEventId(lastEventId)
  if (eventId === undefined) return rejectStream(view)
  // All entries are `CallStream`s, because `serveRequests` registers them.
  const knownStream = http.sessionStates.find(session)?.streams.get(eventId.streamId) as CallStream | undefined
  const peer = { client: session, session, view }
  if (knownStream !== undefined) {
    knownStream.resume(view.reply, eventId.eventNumber)
    return true
  }
  if (http.finishedStreams.resume(eventId, session, view.reply)) return true
  // An invented id is rejected before the store or other instances are asked.
  if (!(await isStreamOf(eventId.streamId, session.key))) return rejectStream(view)
  if ((await http.link?.readers.resume(eventId, peer)) === true) return true
  if (!eventId.isWaiting || http.callDeps.stateRounds === undefined) return rejectStream(view)
  holdReader(eventId, session, view, http)
  return true
}

/** Keeps a reader's connection open until an answer arrives whose `state` contains the stream's call (SEP-1685). */
function holdReader(
  { streamId, eventNumber }: ParsedEventId,
  session: Session,
  view: HttpRequestView,
  { callDeps, sessionStates }: HttpDeps,
): void {
  const { reply } = view
  const callerKey = callerKeyOf(view)
  const releaseStream = callDeps.ledger.take('streams', callerKey)
  const state = sessionStates.getOrCreate(session, callerKey)
  const release = (): void => {
    cancelTimer()
    releaseStream()
    if (state.waitingReaders.get(streamId) === reader) state.waitingReaders.delete(streamId)
    sessionStates.removeIfEmpty(state)
  }
  const reader = { reply, lastEventNumber: eventNumber, release }
  const cancelTimer = callDeps.schedule(() => {
    release()
    reply.end()
  }, callDeps.settings.answerTimeoutMs)
  const replacedReader = state.waitingReaders.get(streamId)
  replacedReader?.release()
  replacedReader?.reply.end()
  state.waitingReaders.set(streamId, reader)
  reply.open()
  reply.onClose(release)
}

function rejectStream(view: HttpRequestView): true {
  return rejectRequest(view, {
    status: 404,
    message: 'The stream of this Last-Event-ID has ended, or was never open at this server',
  })
}

function openListeningStream(
  session: Session,
  view: HttpRequestView,
  { callDeps, sessionStates, link }: HttpDeps,
): Promise<true> {
  const { reply, limits } = view
  return new Promise((resolve) => {
    // One GET stream a session, because a message must not be sent on two.
    sessionStates.find(session)?.listeningStream?.end()
    link?.bus.publish('listening', { session: session.key })
    const state = sessionStates.getOrCreate(session, callerKeyOf(view))
    const changeSubscription = new ChangeSubscription(
      {
        client: session,
        caller: withClientSession(view, session.digest),
        uris: state.uris.keys(),
        whenDrained: () => reply.waitForDrain(),
        notify(message) {
          const text = `data: ${encodeMessage(message, limits.log)}\n\n`
          // A client that reads too slowly is disconnected. When it connects again, it reads lists and resources again.
          if (reply.countQueuedBytes() + text.length > limits.maxQueuedBytes) endListeningStream()
          else reply.write(text)
        },
        onOpen() {
          reply.open()
          resolve(true)
        },
        onEnd(error) {
          if (error !== undefined) rejectWithError(view, error)
          endListeningStream()
          resolve(true)
        },
      },
      callDeps,
    )
    const listeningStream = { subscription: changeSubscription, end: () => endListeningStream() }
    const endListeningStream = (): void => {
      changeSubscription.close()
      reply.end()
      if (state.listeningStream === listeningStream) state.listeningStream = undefined
      sessionStates.removeIfEmpty(state)
      resolve(true)
    }
    state.listeningStream = listeningStream
    reply.onClose(endListeningStream)
    reply.onStop(endListeningStream)
  })
}
