import { callerKeyOf, type HttpRequestView, type RequestId, type RpcResponse } from '@x/schema'
import type { LegacyClient } from '../../translate/request.ts'
import type { Caller } from '../session/deps.ts'
import type { WaitingRound } from '../call/waiting-round.ts'
import type { CallDeps } from '../call/call-deps.ts'
import type { ClientSettings } from '../session/local-methods.ts'
import type { LegacySessionState, SessionStates } from '../session/session-state.ts'
import type { Session, Sessions } from '../session/session.ts'
import type { ParsedEventId, WrittenEvent } from './event-id.ts'
import type { StoredSession } from './link/link-store.ts'

/** The link of this instance with the others. */
export interface InstanceLink {
  /**
   * Resolves when this instance receives messages. A bus that cannot be reached is reported, and tried again by the
   * next call.
   */
  listen(): Promise<void>
  /** Has a stored round leave this instance when another one continues it, or when this one stops. */
  watchRound(round: WaitingRound, callerKey: string, handOff: () => void): void
  /** Stores an answer to a round that waits here, for the instance that continues it if this one ends. */
  shareAnswer(response: RpcResponse): Promise<void>
  /**
   * Takes an answer to a round that waits at another instance, or at none. Resolves with false when no round has the
   * question.
   */
  takeAnswer(response: RpcResponse, peer: SessionPeer): Promise<boolean>
  /** Deletes the round of a call that has ended, and stores its response. */
  finishCall(streamId: string, session: Session, response: WrittenEvent | undefined): Promise<void>
  /** Notifies the instance that has the reader of a stream that its call waits. */
  announceQuestions(streamId: string): void
  /** Continues a stream that this instance does not have. Resolves with false when no instance has it. */
  resume(lastEventId: ParsedEventId, peer: SessionPeer): Promise<boolean>
  /** Notifies the other instances that a client has cancelled a request. */
  cancelRequest(session: Session, id: RequestId): void
  /** Reads what requests to other instances have set in a session. Resolves with false for a session that was ended. */
  openSession(session: Session, caller: Caller): Promise<boolean>
  changeSession(
    session: Session,
    caller: Caller,
    changeState: (storedSession: StoredSession) => StoredSession,
  ): Promise<void>
  /** Notifies the other instances that the GET stream of a session is here. */
  announceListening(session: Session): void
  /** Leaves the calls that wait here to the other instances. */
  drain(): () => void
  close(): void
}

/** Dependencies of the HTTP adapter. */
export interface HttpDeps {
  readonly deps: CallDeps
  readonly sessions: Sessions
  readonly sessionStates: SessionStates
  /** Links this instance with the others, undefined without the option `store`. */
  readonly link: InstanceLink | undefined
}

/** A client with a session, whose calls can be resumed. */
export type SessionPeer = HttpPeer & { readonly session: Session }

/** The client of one HTTP request. */
export interface HttpPeer {
  readonly client: LegacyClient
  /** Undefined for a client that sends no session id. It is served, and no question can be sent to it. */
  readonly session: Session | undefined
  readonly view: HttpRequestView
}

/** Returns the settings of a client for itself. Without a session nothing is kept. */
export function createClientSettings(
  { client, session, view }: HttpPeer,
  { sessionStates, link }: HttpDeps,
): ClientSettings {
  const changeState = async (
    applyChange: (state: LegacySessionState) => void,
    changeStoredSession: (storedSession: StoredSession) => StoredSession,
  ): Promise<void> => {
    if (session === undefined) return
    const state = sessionStates.getOrCreate(session, callerKeyOf(view))
    applyChange(state)
    sessionStates.removeIfEmpty(state)
    await link?.changeSession(session, view, changeStoredSession)
  }
  const updateListenedUris = (state: LegacySessionState): void =>
    state.listeningStream?.subscription.update(state.uris.keys())
  return {
    client,
    caller: view,
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
          sessionStates.addUri(uri, state)
          updateListenedUris(state)
        },
        (storedSession) => ({ ...storedSession, uris: [...new Set([...storedSession.uris, uri])] }),
      ),
    unsubscribe: (uri) =>
      changeState(
        (state) => {
          if (sessionStates.removeUri(uri, state)) updateListenedUris(state)
        },
        (storedSession) => ({
          ...storedSession,
          uris: storedSession.uris.filter((subscribedUri) => subscribedUri !== uri),
        }),
      ),
  }
}
