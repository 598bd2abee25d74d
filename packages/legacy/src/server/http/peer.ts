import type { HttpRequestView } from '@x/schema'
import type { LegacyClient } from '../../translate/request.ts'
import type { Deps } from '../deps.ts'
import type { ClientSettings } from '../local-methods.ts'
import type { Session, Sessions } from '../session.ts'
import type { SessionState, SessionStates } from '../session-state.ts'

/** Dependencies of the HTTP adapter. */
export interface HttpDeps {
  readonly deps: Deps
  readonly sessions: Sessions
  readonly states: SessionStates
}

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
    const state = states.of(session)
    apply(state)
    states.tidy(state)
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
