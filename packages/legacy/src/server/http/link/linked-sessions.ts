import { isUnavailable } from '@x/core'
import { type BoundedMap, createBoundedMap, type Session } from '../../session/session.ts'
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
  /**
   * Reads all sessions again, because some records may have changed. A record that this instance knows is stored again
   * if the store has an older one.
   */
  catchUp(): Promise<void>
}

const maxSessions = 10_000

/** The record of a session as it was last read or written here. */
interface KnownSession {
  readonly key: string
  readonly expiresAt: number
  /** The caller in whose quota the record counts. */
  readonly owner: string
  readonly record: StoredSession
}

/** Creates {@link LinkedSessions}. They read each session once, and again after another instance has changed it. */
export function createLinkedSessions({ store, bus, deps, getHttpDeps }: LinkContext): LinkedSessions {
  let knownSessions = createBoundedMap<KnownSession>(maxSessions)
  /** The sessions that were known before the last gap. They are used while the store is unreachable. */
  const earlierSessions = createBoundedMap<KnownSession>(maxSessions)
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
    else state.applySettings(storedSession)
  }
  const remember = ({ key, expiresAt }: Session, owner: string, record: StoredSession): void =>
    knownSessions.set(key, { key, expiresAt, owner, record })
  const write = (
    { key, expiresAt }: Pick<Session, 'key' | 'expiresAt'>,
    owner: string,
    change: (storedSession: StoredSession) => StoredSession,
  ): Promise<StoredSession> => store.changeSession({ key, ttlMs: Math.max(1, expiresAt - deps.now()), owner }, change)
  const restore = async ({ record, ...known }: KnownSession): Promise<void> => {
    if ((await store.getSession(known.key)).version >= record.version) return
    await write(known, known.owner, (storedSession) =>
      storedSession.version >= record.version
        ? storedSession
        : { ...record, isEnded: record.isEnded || storedSession.isEnded },
    )
    // Other instances may have read the older record meanwhile.
    bus.publish('session', { session: known.key })
  }
  return {
    async open(session, callerKey) {
      const { sessionStates } = getHttpDeps()
      const knownSession = knownSessions.get(session.key)
      const changeCountBefore = changeCount
      const storedSession = knownSession?.record ?? (await readStoredSession(store, session.key, earlierSessions))
      if (changeCount === changeCountBefore) remember(session, callerKey, storedSession)
      if (storedSession.isEnded) return false
      const hasNoSettings = storedSession.level === undefined && storedSession.uris.length === 0
      const isNew = knownSession === undefined || sessionStates.find(session) === undefined
      if (isNew && !hasNoSettings) sessionStates.getOrCreate(session, callerKey).applySettings(storedSession)
      return true
    },
    async change(session, owner, change) {
      remember(session, owner, await write(session, owner, change))
      bus.publish('session', { session: session.key })
    },
    reload,
    async catchUp() {
      for (const known of knownSessions.list()) {
        if (known.record.version > 0) await restore(known)
        earlierSessions.set(known.key, known)
      }
      changeCount += 1
      knownSessions = createBoundedMap(maxSessions)
      for (const key of Array.from(getHttpDeps().sessionStates.list(), (state) => state.key)) await reload(key)
    },
  }
}

/** Reads the record of a session. While the store is unreachable, returns the record from before the last gap. */
async function readStoredSession(
  store: LinkContext['store'],
  key: string,
  earlierSessions: BoundedMap<KnownSession>,
): Promise<StoredSession> {
  try {
    return await store.getSession(key)
  } catch (error) {
    const earlierSession = earlierSessions.get(key)
    if (earlierSession === undefined || !isUnavailable(error)) throw error
    return earlierSession.record
  }
}
