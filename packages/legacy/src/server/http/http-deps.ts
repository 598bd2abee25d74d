import { callerKeyOf, type HttpRequestView, type RequestId, type RpcResponse } from '@x/schema'
import type { LegacyClient } from '../../translate/request.ts'
import type { Deps } from '../deps.ts'
import type { ClientSettings } from '../local-methods.ts'
import type { Session, Sessions } from '../session.ts'
import type { LegacySessionState, SessionStates } from '../session-state.ts'
import type { RoundAnswer } from '../ask-client.ts'
import type { ResumedCall } from '../legacy-call.ts'
import type { StoredSession } from '../link/link-store.ts'
import type { CallLink } from '../call-channel.ts'
import type { CallStream } from './call-stream.ts'
import type { ParsedEventId } from './event-id.ts'

/** An instance's part in a link. */
export interface InstanceLink {
  /**
   * Resolves when this instance hears the others; a bus that cannot be reached is reported, and tried again by the next
   * call.
   */
  listen(): Promise<void>
  /** Returns the link of one call, which the store may have already. */
  linkCall(call: LinkedCall): CallLink
  /** Stores an answer to a call that waits at any instance; false when none does. */
  takeAnswer(response: RpcResponse, peer: SessionPeer): Promise<boolean>
  /** Continues a stream that is not known here; false when it is known nowhere. */
  resume(lastEventId: ParsedEventId, peer: SessionPeer): Promise<boolean>
  /** Tells the other instances that a client has cancelled a request. */
  cancelRequest(session: Session, id: RequestId): void
  /** Reads what requests to other instances have set in a session; false for one that was ended. */
  openSession(session: Session, callerKey: string): Promise<boolean>
  changeSession(session: Session, changeState: (storedSession: StoredSession) => StoredSession): Promise<void>
  /** Tells the other instances that the GET stream of a session is here. */
  announceListening(session: Session): void
  /** Leaves the calls that wait here to the other instances. */
  drain(): () => void
  close(): void
}

/** A call of a link. */
export interface LinkedCall {
  readonly session: Session
  readonly stream: CallStream
  readonly isStored: boolean
  /** Ends the call here without an answer. */
  handOff(): void
}

/** Dependencies of the HTTP adapter. */
export interface HttpDeps {
  readonly deps: Deps
  readonly sessions: Sessions
  readonly sessionStates: SessionStates
  /** Joins this instance with the others; undefined where each serves by itself. */
  readonly link: InstanceLink | undefined
  /**
   * The rounds of calls that this instance has taken over, by the keys of their sessions and the ids of their streams.
   */
  readonly resumedRounds: Map<string, ResumedRound>
}

/** A stream that another instance began, or this one before it was started again. */
export interface OwnedStream {
  readonly stream: CallStream
  /** The key of its session. */
  readonly owner: string
  /** Runs its call from where it waited. Its response is kept for the reader, who may not be back yet. */
  run(resumedCall: ResumedCall): void
}

/** A round of a call that was taken over, until all of its answers are here. */
export interface ResumedRound {
  readonly ownedStream: OwnedStream
  readonly answers: Map<string, RoundAnswer>
}

/** A client with a session, whose calls can be resumed. */
export type SessionPeer = HttpPeer & { readonly session: Session }

/** The client of one HTTP request. */
export interface HttpPeer {
  readonly client: LegacyClient
  /** Undefined for a client that sends no session id: it is served, and cannot be asked. */
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
    await link?.changeSession(session, changeStoredSession)
  }
  const updateListenedUris = (uris: ReadonlySet<string>, state: LegacySessionState): void =>
    state.listeningStream?.subscription.update(uris)
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
    subscribe: async (uri) => {
      const state = session && sessionStates.getOrCreate(session, callerKeyOf(view))
      if (state === undefined || state.uris.has(uri)) return true
      if (!sessionStates.makeRoomForUri(uri, state)) return false
      await changeState(
        ({ uris }) => updateListenedUris(uris.add(uri), state),
        (storedSession) => ({ ...storedSession, uris: [...new Set([...storedSession.uris, uri])] }),
      )
      return true
    },
    unsubscribe: (uri) =>
      changeState(
        (state) => {
          if (state.uris.delete(uri)) updateListenedUris(state.uris, state)
        },
        (storedSession) => ({
          ...storedSession,
          uris: storedSession.uris.filter((subscribedUri) => subscribedUri !== uri),
        }),
      ),
  }
}
