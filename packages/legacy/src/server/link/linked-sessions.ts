import type { InstanceLink } from '../http/http-deps.ts'
import { createBoundedMap } from '../session.ts'
import type { LinkDeps } from './link-deps.ts'
import type { StoredSession } from './link-store.ts'

/** The sessions of all instances, as the store has them. */
export interface LinkedSessions {
  readonly open: InstanceLink['openSession']
  readonly change: InstanceLink['changeSession']
  /** Reads a session again, whose record has changed. */
  reload(key: string): Promise<void>
  /** Reads all sessions again, of which some may have changed. */
  catchUp(): Promise<void>
}

const maxSessions = 10_000

/** Each session is read once, and again when another instance has changed it. */
export function createLinkedSessions({ store, bus, deps, getHttpDeps }: LinkDeps): LinkedSessions {
  let knownSessions = createBoundedMap<StoredSession>(maxSessions)
  const reload = async (key: string): Promise<void> => {
    const { sessionStates } = getHttpDeps()
    knownSessions.delete(key)
    const state = sessionStates.find({ key })
    if (state === undefined) return
    const storedSession = await store.getSession(key)
    if (storedSession.isEnded) sessionStates.end({ key })
    else sessionStates.applyStoredSettings(state, storedSession)
  }
  return {
    async open(session, callerKey) {
      const { sessionStates } = getHttpDeps()
      const knownSession = knownSessions.get(session.key)
      const storedSession = knownSession ?? (await store.getSession(session.key))
      knownSessions.set(session.key, storedSession)
      if (storedSession.isEnded) return false
      const hasNoSettings = storedSession.level === undefined && storedSession.uris.length === 0
      const isNew = knownSession === undefined || sessionStates.find(session) === undefined
      if (isNew && !hasNoSettings)
        sessionStates.applyStoredSettings(sessionStates.getOrCreate(session, callerKey), storedSession)
      return true
    },
    async change(session, change) {
      const ttlMs = Math.max(1, session.expiresAt - deps.now())
      knownSessions.set(session.key, await store.changeSession(session.key, ttlMs, change))
      bus.publish('session', { session: session.key })
    },
    reload,
    async catchUp() {
      knownSessions = createBoundedMap(maxSessions)
      for (const key of Array.from(getHttpDeps().sessionStates.listStates(), (state) => state.key)) await reload(key)
    },
  }
}
