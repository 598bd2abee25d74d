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
export function createLinkedSessions({ store, bus, deps, http }: LinkDeps): LinkedSessions {
  let known = createBoundedMap<StoredSession>(maxSessions)
  const reload = async (key: string): Promise<void> => {
    const { sessionStates } = http()
    known.delete(key)
    const state = sessionStates.find({ key })
    if (state === undefined) return
    const stored = await store.getSession(key)
    if (stored.isEnded) sessionStates.end({ key })
    else sessionStates.apply(state, stored)
  }
  return {
    async open(session, caller) {
      const { sessionStates } = http()
      const remembered = known.get(session.key)
      const stored = remembered ?? (await store.getSession(session.key))
      known.set(session.key, stored)
      if (stored.isEnded) return false
      const isPlain = stored.level === undefined && stored.uris.length === 0
      const isNew = remembered === undefined || sessionStates.find(session) === undefined
      if (isNew && !isPlain) sessionStates.apply(sessionStates.getOrCreate(session, caller), stored)
      return true
    },
    async change(session, change) {
      const ttlMs = Math.max(1, session.expiresAt - deps.now())
      known.set(session.key, await store.changeSession(session.key, ttlMs, change))
      bus.publish('session', { session: session.key })
    },
    reload,
    async catchUp() {
      known = createBoundedMap(maxSessions)
      for (const key of Array.from(http().sessionStates.listStates(), (state) => state.key)) await reload(key)
    },
  }
}
