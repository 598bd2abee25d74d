import { callerOf, type HttpRequestView } from '@x/schema'
import type { LegacyClient } from '../../translate/request.ts'
import type { Deps } from '../deps.ts'
import type { ClientSettings } from '../local-methods.ts'
import type { Session, Sessions } from '../session.ts'
import type { SessionState, SessionStates } from '../session-state.ts'
import type { RoundAnswer } from '../ask-client.ts'
import type { ResumedCall } from '../legacy-call.ts'
import type { CallStream } from './call-stream.ts'

/** Dependencies of the HTTP adapter. */
export interface HttpDeps {
  readonly deps: Deps
  readonly sessions: Sessions
  readonly states: SessionStates
  /** The rounds of calls that this instance has taken over, by the keys of their sessions and the ids of their streams. */
  readonly rounds: Map<string, ResumedRound>
}

/** A stream that another instance began, or this one before it was started again. */
export interface TakenStream {
  readonly stream: CallStream
  /** The key of its session. */
  readonly owner: string
  /** Runs its call from where it waited. Its response is kept for the reader, who may not be back yet. */
  run(resumed: ResumedCall): void
}

/** A round of a call that was taken over, until all of its answers are here. */
export interface ResumedRound {
  readonly taken: TakenStream
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
export function httpClientSettings({ client, session, view }: HttpPeer, { states }: HttpDeps): ClientSettings {
  const change = (apply: (state: SessionState) => void): void => {
    if (session === undefined) return
    const state = states.of(session, callerOf(view))
    apply(state)
    states.removeExpired(state)
  }
  const listenTo = (uris: ReadonlySet<string>, state: SessionState): void => state.listening?.listening.update(uris)
  return {
    client,
    caller: view,
    setLevel: (level) =>
      change((state) => {
        state.level = level
      }),
    subscribe: (uri) => {
      let added = true
      change((state) => {
        if (state.uris.has(uri)) return
        added = states.hasRoomFor(uri, state)
        if (!added) return
        state.uris.add(uri)
        listenTo(state.uris, state)
      })
      return added
    },
    unsubscribe: (uri) =>
      change((state) => {
        if (state.uris.delete(uri)) listenTo(state.uris, state)
      }),
  }
}
