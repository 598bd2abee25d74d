import { BoundedMap, isUnavailable } from '@x/core'
import type { Session } from '../../session/session.ts'
import type { LinkContext } from './link-context.ts'
import type { StoredSession } from './link-store.ts'

type SessionChange = (storedSession: StoredSession) => StoredSession

const maxSessions = 10_000

interface KnownSession extends Pick<Session, 'key' | 'expiresAt'> {
  readonly owner: string
  readonly record: StoredSession
}

/** Keeps the records of sessions in the store. Each is read once, and again after another instance has changed it. */
export class LinkedSessions {
  readonly #context: LinkContext
  #knownSessions = new BoundedMap<string, KnownSession>(maxSessions)
  /** Records from before the last gap, for use while the store is unreachable. */
  readonly #earlierSessions = new BoundedMap<string, KnownSession>(maxSessions)
  #changeCount = 0

  constructor(context: LinkContext) {
    this.#context = context
  }

  /**
   * Applies a session's stored log level and subscriptions, which requests to other instances may have changed.
   * Resolves with false if the session was ended.
   */
  async open(session: Session, callerKey: string): Promise<boolean> {
    const { sessionStates } = this.#context
    const knownSession = this.#knownSessions.get(session.key)
    const changeCountBefore = this.#changeCount
    const storedSession = knownSession?.record ?? (await this.#read(session.key))
    if (this.#changeCount === changeCountBefore) this.#remember(session, callerKey, storedSession)
    if (storedSession.isEnded) return false
    const hasNoSettings = storedSession.level === undefined && storedSession.uris.length === 0
    const isNew = knownSession === undefined || sessionStates.find(session) === undefined
    if (isNew && !hasNoSettings) sessionStates.getOrCreate(session, callerKey).applySettings(storedSession)
    return true
  }

  async change(session: Session, owner: string, change: SessionChange): Promise<void> {
    this.#remember(session, owner, await this.#write(session, owner, change))
    this.#context.bus.publish('session', { session: session.key })
  }

  /** Reads a session again, because its record has changed. */
  async reload(key: string): Promise<void> {
    const { store, sessionStates } = this.#context
    this.#changeCount += 1
    this.#knownSessions.delete(key)
    const state = sessionStates.find({ key })
    if (state === undefined) return
    const storedSession = await store.getSession(key)
    if (storedSession.isEnded) sessionStates.end({ key })
    else state.applySettings(storedSession)
  }

  /**
   * Reads all sessions again, because some records may have changed. If the store has an older record than this
   * instance, the newer one is stored again.
   */
  async catchUp(): Promise<void> {
    // A copy, because a session that is restored becomes the newest.
    const knownSessions = Array.from(this.#knownSessions.values())
    for (const known of knownSessions) {
      if (known.record.version > 0) await this.#restore(known)
      this.#earlierSessions.set(known.key, known)
    }
    this.#changeCount += 1
    this.#knownSessions = new BoundedMap<string, KnownSession>(maxSessions)
    for (const key of Array.from(this.#context.sessionStates.list(), (state) => state.key)) await this.reload(key)
  }

  #remember({ key, expiresAt }: Session, owner: string, record: StoredSession): void {
    this.#knownSessions.set(key, { key, expiresAt, owner, record })
  }

  /** While the store is unreachable, a session has the record from before the last gap. */
  async #read(key: string): Promise<StoredSession> {
    try {
      return await this.#context.store.getSession(key)
    } catch (error) {
      const earlierSession = this.#earlierSessions.get(key)
      if (earlierSession === undefined || !isUnavailable(error)) throw error
      return earlierSession.record
    }
  }

  #write(
    { key, expiresAt }: Pick<Session, 'key' | 'expiresAt'>,
    owner: string,
    change: SessionChange,
  ): Promise<StoredSession> {
    const { store, deps } = this.#context
    return store.changeSession({ key, ttlMs: Math.max(1, expiresAt - deps.now()), owner }, change)
  }

  async #restore({ record, ...known }: KnownSession): Promise<void> {
    if ((await this.#context.store.getSession(known.key)).version >= record.version) return
    await this.#write(known, known.owner, (storedSession) =>
      storedSession.version >= record.version
        ? storedSession
        : { ...record, isEnded: record.isEnded || storedSession.isEnded },
    )
    // Other instances may have read the older record meanwhile.
    this.#context.bus.publish('session', { session: known.key })
  }
}
