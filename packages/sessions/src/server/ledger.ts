import { isStateError, memoryStore, type StateStore } from '@x/state-codec'

/** What is known of sessions beside what they say of themselves. */
export interface Ledger {
  /** Notes that a session lives. */
  admit(id: string, ttlMs: number): Promise<void>
  /** Whether a session lives, as far as is known here. */
  isLive(id: string): Promise<boolean>
  /** Ends a session, whose id would open for `ttlMs` more. */
  end(id: string, ttlMs: number): Promise<void>
}

/** A ledger in a store, or one of this process alone, which knows only of the ends. */
export function createLedger(store: StateStore | undefined, now: () => number): Ledger {
  return store === undefined ? rememberEnds(now) : registerIn(store)
}

/** A session that the store does not have is over: one that loses what it keeps ends sessions, and revives none. */
function registerIn(store: StateStore): Ledger {
  return {
    admit: async (id, ttlMs) => void (await store.add(await storeKey('session', id), '1', ttlMs)),
    isLive: async (id) => (await store.get(await storeKey('session', id))) !== undefined,
    end: async (id) => store.delete(await storeKey('session', id)),
  }
}

/** How many ends one process remembers. */
const mostEnds = 10_000

function rememberEnds(now: () => number): Ledger {
  const ends = memoryStore({ maxEntries: mostEnds, clock: { now } })
  return {
    admit: () => Promise.resolve(),
    isLive: async (id) => (await ends.get(id)) === undefined,
    async end(id, ttlMs) {
      try {
        await ends.add(id, '1', ttlMs)
      } catch (error) {
        // A full memory forgets an end early, as every other instance has not heard of it at all.
        if (!isStateError(error)) throw error
      }
    },
  }
}

/** A key of a store: who can read the store must not be able to use the ids. */
export async function storeKey(kind: string, id: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`x/sessions ${kind} ${id}`))
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${kind}:${hex}`
}
