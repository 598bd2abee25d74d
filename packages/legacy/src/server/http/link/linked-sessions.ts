import { createBoundedMap, type Session } from '../../session/session.ts'
import type { LinkContext } from './link-context.ts'
import type { StoredSession } from './link-store.ts'

/** Reads and writes the records of sessions in the store. */
export interface LinkedSessions {
  /**
   * Applies the stored log level and subscriptions of a session, which requests to other instances may have changed.
   * Resolves with false if the session was ended.
   */
  open(session: Session, callerKey: string): Promise<boolean>
  change(session: Session, callerKey: string, change: (storedSession: StoredSession) => StoredSession): Promise<void>
  /** Reads a session again, because its record has changed. */
  reload(key: string): Promise<void>
  /** Reads all sessions again, because some records may have changed. */
  catchUp(): Promise<void>
}

const maxSessions = 10_000

/** Creates {@link LinkedSessions}. They read each session once, and again after another instance has changed it. */
export function createLinkedSessions({ store, bus, deps, getHttpDeps }: LinkContext): LinkedSessions {
  let knownSessions = createBoundedMap<StoredSession>(maxSessions)
  /** The number of times that a record has changed. A record that was read before the last change may be old. */
  let changeCount = 0
  const reload = async (key: string): Promise<void> => {
    const { sessionStates } = getHttpDeps()
    changeCount += 1
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
      const changeCountBefore = changeCount
      const storedSession = knownSession ?? (await store.getSession(session.key))
      if (changeCount === changeCountBefore) knownSessions.set(session.key, storedSession)
      if (storedSession.isEnded) return false
      const hasNoSettings = storedSession.level === undefined && storedSession.uris.length === 0
      const isNew = knownSession === undefined || sessionStates.find(session) === undefined
      if (isNew && !hasNoSettings)
        sessionStates.applyStoredSettings(sessionStates.getOrCreate(session, callerKey), storedSession)
      return true
    },
    async change(session, owner, change) {
      const ttlMs = Math.max(1, session.expiresAt - deps.now())
      knownSessions.set(session.key, await store.changeSession({ key: session.key, ttlMs, owner }, change))
      bus.publish('session', { session: session.key })
    },
    reload,
    async catchUp() {
      changeCount += 1
      knownSessions = createBoundedMap(maxSessions)
      for (const key of Array.from(getHttpDeps().sessionStates.listStates(), (state) => state.key)) await reload(key)
    },
  }
}
