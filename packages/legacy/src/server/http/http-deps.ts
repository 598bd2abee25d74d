import { callerKeyOf } from '@x/exchange'
import type { CallDeps } from '../call/call-deps.ts'
import type { ClientSettings } from '../session/local-methods.ts'
import type { LegacySessionState, SessionStates } from '../session/session-state.ts'
import type { Sessions } from '../session/session.ts'
import type { FinishedStreams } from './finished-streams.ts'
import type { StoredSession } from './link/link-store.ts'
import type { InstanceLink } from './link/link.ts'
import type { HttpPeer } from './peer.ts'
import { withClientSession } from '../session/client-session.ts'

export type { HttpPeer }

export interface HttpDeps {
  readonly callDeps: CallDeps
  readonly sessions: Sessions
  readonly sessionStates: SessionStates
  readonly finishedStreams: FinishedStreams
  /** Undefined without the option `store`. */
  readonly link: InstanceLink | undefined
}

/** Lets a client change its settings. Without a session nothing is stored. */
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
    await link?.sessions.change(session, callerKeyOf(view), changeStoredSession)
  }
  const updateListenedUris = (state: LegacySessionState): Promise<void> | undefined =>
    state.listeningStream?.subscription.update(state.uris.keys())
  return {
    client,
    caller: withClientSession(view, session?.digest),
    setLevel: (level) =>
      changeState(
        (state) => state.setLevel(level),
        (storedSession) => ({ ...storedSession, level }),
      ),
    hasUri: (uri) => session === undefined || sessionStates.find(session)?.uris.has(uri) === true,
    subscribe: (uri) =>
      changeState(
        (state) => {
          state.addUri(uri)
          // A client may cause an update as soon as it has the answer.
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
