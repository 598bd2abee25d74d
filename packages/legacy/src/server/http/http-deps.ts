import { callerKeyOf, type HttpRequestView } from '@x/exchange'
import type { RequestId, RpcResponse } from '@x/schema'
import type { Caller } from '../session/deps.ts'
import type { WaitingRound } from '../call/waiting-round.ts'
import type { CallDeps } from '../call/call-deps.ts'
import type { ClientSettings } from '../session/local-methods.ts'
import type { LegacySessionState, SessionStates } from '../session/session-state.ts'
import type { Session, Sessions } from '../session/session.ts'
import type { ParsedEventId, WrittenEvent } from './event-id.ts'
import type { FinishedStreams } from './finished-streams.ts'
import type { StoredSession } from './link/link-store.ts'
import { withClientSession } from '../session/client-session.ts'

/** The link between this instance and the other instances. */
export interface InstanceLink {
  /**
   * Resolves once this instance receives messages of the bus. If the bus cannot be reached, logs the error, and the
   * next call tries again.
   */
  listen(): Promise<void>
  /** Calls `handOff` for a stored round if another instance continues the round, or if this instance stops. */
  watchRound(round: WaitingRound, callerKey: string, handOff: () => void): void
  /**
   * Stores an answer to a round that waits here. Another instance needs the answer if this one ends before it has all
   * answers.
   */
  shareAnswer(response: RpcResponse): Promise<void>
  /**
   * Accepts an answer to a round that waits at another instance, or at no instance. Resolves with false if no round has
   * the question.
   */
  takeAnswer(response: RpcResponse, peer: SessionPeer): Promise<boolean>
  /** Deletes the round of a call that has ended, and stores its response. */
  finishCall(streamId: string, peer: SessionPeer, response: WrittenEvent | undefined): Promise<void>
  /**
   * Notifies the other instances that the call of a stream waits for answers, because its client reads the stream at
   * one of them.
   */
  announceQuestions(streamId: string): void
  /** Resumes a stream that this instance does not have. Resolves with false if no instance has it. */
  resume(lastEventId: ParsedEventId, peer: SessionPeer): Promise<boolean>
  /** Notifies the other instances that a client has cancelled a request. */
  cancelRequest(session: Session, id: RequestId): void
  /**
   * Applies the stored log level and subscriptions of a session, which requests to other instances may have changed.
   * Resolves with false if the session was ended.
   */
  openSession(session: Session, caller: Caller): Promise<boolean>
  changeSession(
    session: Session,
    caller: Caller,
    changeState: (storedSession: StoredSession) => StoredSession,
  ): Promise<void>
  /** Notifies the other instances that this instance has opened the GET stream of a session. */
  announceListening(session: Session): void
  /** Hands the calls that wait here over to the other instances. Returns a function that ends the draining. */
  drain(): () => void
  close(): void
}

/** Dependencies of the HTTP adapter. */
export interface HttpDeps {
  readonly callDeps: CallDeps
  readonly sessions: Sessions
  readonly sessionStates: SessionStates
  readonly finishedStreams: FinishedStreams
  /** The link to the other instances. Undefined without the option `store`. */
  readonly link: InstanceLink | undefined
}

/** A client with a session, whose calls can be resumed. */
export type SessionPeer = HttpPeer & { readonly session: Session }

/** The client of one HTTP request. */
export interface HttpPeer {
  readonly client: ClientSettings['client']
  /** Undefined for a client that sends no session id. Such a client is served, but no question can be sent to it. */
  readonly session: Session | undefined
  readonly view: HttpRequestView
}

/** Returns the functions with which a client changes its settings. For a client without a session nothing is stored. */
export function createClientSettings(
  { client, session, view }: HttpPeer,
  { sessionStates, link }: HttpDeps,
): ClientSettings {
  const changeState = async (
    applyChange: (state: LegacySessionState) => void | Promise<void>,
    changeStoredSession: (storedSession: StoredSession) => StoredSession,
  ): Promise<void> => {
    if (session === undefined) return
    const state = sessionStates.getOrCreate(session, callerKeyOf(view))
    const applied = applyChange(state)
    sessionStates.removeIfEmpty(state)
    await applied
    await link?.changeSession(session, view, changeStoredSession)
  }
  const updateListenedUris = (state: LegacySessionState): Promise<void> | undefined =>
    state.listeningStream?.subscription.update(state.uris.keys())
  return {
    client,
    caller: withClientSession(view, session?.digest),
    setLevel: (level) =>
      changeState(
        (state) => {
          state.level = level
        },
        (storedSession) => ({ ...storedSession, level }),
      ),
    hasUri: (uri) => session === undefined || sessionStates.find(session)?.uris.has(uri) === true,
    subscribe: (uri) =>
      changeState(
        (state) => {
          state.addUri(uri)
          // The client may cause an update as soon as it has the answer.
          return updateListenedUris(state)
        },
        (storedSession) => ({ ...storedSession, uris: [...new Set([...storedSession.uris, uri])] }),
      ),
    unsubscribe: (uri) =>
      changeState(
        (state) => {
          if (state.removeUri(uri)) void updateListenedUris(state)
        },
        (storedSession) => ({
          ...storedSession,
          uris: storedSession.uris.filter((subscribedUri) => subscribedUri !== uri),
        }),
      ),
  }
}
