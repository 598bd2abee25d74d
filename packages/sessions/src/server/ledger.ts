import { isStateError, memoryStore, type StateStore } from '@x/state-codec'

/** The sessions that live, as far as a store or this process knows. */
export interface Ledger {
  /** Adds a session of an owner. Rejects with a `StateError` `quota` when the owner has as many as one may have. */
  add(id: string, ttlMs: number, owner: string): Promise<void>
  /** Resolves with whether a session lives, as far as is known here. */
  isLive(id: string): Promise<boolean>
  /** Ends a session whose id would open for `ttlMs` more. `owner` is the caller who ends it, undefined for the program. */
  end(id: string, ttlMs: number, owner?: string): Promise<void>
}

/** Makes a ledger in a store, or one of this process alone, which knows only of the ends. */
export function createLedger(store: StateStore | undefined, now: () => number): Ledger {
  return store === undefined ? rememberEnds(now) : registerIn(store)
}

/** Makes a ledger in a store. A session that the store lacks is over: a store that loses its content ends sessions, and revives none. */
function registerIn(store: StateStore): Ledger {
  return {
    add: async (id, ttlMs, owner) => {
      await (store.ownedBy?.(owner) ?? store).add(await storeKey('session', id), '1', ttlMs)
    },
    isLive: async (id) => (await store.get(await storeKey('session', id))) !== undefined,
    end: async (id) => store.delete(await storeKey('session', id)),
  }
}

/** The number of ends that one process remembers. */
const maxEnds = 10_000

function rememberEnds(now: () => number): Ledger {
  const ends = memoryStore({ maxEntries: maxEnds, clock: { now } })
  return {
    add: () => Promise.resolve(),
    isLive: async (id) => (await ends.get(id)) === undefined,
    async end(id, ttlMs, owner) {
      const owned = owner === undefined ? ends : (ends.ownedBy?.(owner) ?? ends)
      try {
        await owned.add(id, '1', ttlMs)
      } catch (error) {
        // A full memory forgets an end early, as no other instance knows of it at all. One caller alone does not fill it.
        if (!isStateError(error)) throw error
      }
    },
  }
}

/** Returns a key of the store. It is a digest, so that the ids in a store that leaks cannot be used. */
export async function storeKey(kind: string, id: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`x/sessions ${kind} ${id}`))
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${kind}:${hex}`
}
