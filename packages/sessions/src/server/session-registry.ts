import { type Change, type ChangeBus, sha256Hex } from '@x/core'
import { isStateError, memoryStore, StateError, type StateStore } from '@x/state-codec'

/** The sessions that have not ended, as far as a store or this process knows. */
export interface SessionRegistry {
  /** Adds a session of an owner. Rejects with a `StateError` `quota` when the owner has as many as one may have. */
  add(id: string, ttlMs: number, owner: string): Promise<void>
  /** Resolves with whether a session lives, as far as is known here. */
  isLive(id: string): Promise<boolean>
  /**
   * Ends a session whose id would open for `ttlMs` more. `owner` is the caller who ends it, undefined for the program.
   */
  end(id: string, ttlMs: number, owner?: string): Promise<void>
  /** Stops listening to a bus. */
  close(): Promise<void>
}

/** Options of {@link createSessionRegistry}. */
export interface SessionRegistryOptions {
  readonly store: StateStore | undefined
  readonly bus: ChangeBus | undefined
  readonly now: () => number
}

/**
 * Creates a registry in a store or, without one, in this process. The registry of a process has the ended sessions
 * alone. It has those that other instances ended where there is a bus.
 */
export function createSessionRegistry({ store, bus, now }: SessionRegistryOptions): SessionRegistry {
  if (store !== undefined) return createStoreRegistry(store)
  return bus === undefined ? createMemoryRegistry(now) : createReplicatedRegistry(createMemoryRegistry(now), bus)
}

/**
 * Makes a registry in a store. A session that the store lacks has ended: a store that loses its content ends sessions,
 * and revives none.
 */
function createStoreRegistry(store: StateStore): SessionRegistry {
  return {
    add: async (id, ttlMs, owner) => {
      const key = await toStoreKey('session', id)
      await reachStore(() => (store.forOwner?.(owner) ?? store).add(key, '1', ttlMs))
    },
    isLive: async (id) => {
      const key = await toStoreKey('session', id)
      return (await reachStore(() => store.get(key))) !== undefined
    },
    end: async (id) => {
      const key = await toStoreKey('session', id)
      await reachStore(() => store.delete(key))
    },
    close: () => Promise.resolve(),
  }
}

/** Calls a store. An error of any other class than `StateError` means that the store cannot be reached. */
async function reachStore<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (cause) {
    if (isStateError(cause)) throw cause
    throw new StateError('unavailable', 'The store of sessions cannot be reached', { cause })
  }
}

/** The number of ended sessions that one process remembers. */
const maxEndedSessions = 10_000

function createMemoryRegistry(now: () => number): SessionRegistry {
  const endedSessions = memoryStore({ maxEntries: maxEndedSessions, runtime: { now } })
  return {
    add: () => Promise.resolve(),
    isLive: async (id) => (await endedSessions.get(id)) === undefined,
    async end(id, ttlMs, owner) {
      const ownerStore = owner === undefined ? endedSessions : (endedSessions.forOwner?.(owner) ?? endedSessions)
      try {
        await ownerStore.add(id, '1', ttlMs)
      } catch (error) {
        // A full memory forgets an end early, as no other instance knows of it at all. One caller alone does not fill
        // it.
        if (!isStateError(error)) throw error
      }
    },
    close: () => Promise.resolve(),
  }
}

const sessionEndsTopic = 'x/sessions'

/**
 * Notifies every instance of the ends. Ids do not travel: their digests are enough to know an ended one again. A
 * request waits until this instance receives the ends of the others, and fails while the bus cannot be reached for the
 * first time.
 */
function createReplicatedRegistry(localRegistry: SessionRegistry, bus: ChangeBus): SessionRegistry {
  let listenPromise: Promise<() => void> | undefined
  const listener = {
    onChange: ({ topic: changeTopic, data }: Change): void => {
      const { ended, ttlMs } = changeTopic === sessionEndsTopic && data !== undefined ? data : {}
      if (typeof ended === 'string' && typeof ttlMs === 'number') void localRegistry.end(ended, ttlMs)
    },
    // An end that was published meanwhile is known at its own instance alone. Elsewhere the session expires.
    onGap: (): void => {},
  }
  const listen = async (): Promise<void> => {
    listenPromise ??= bus.listen(listener)
    try {
      await listenPromise
    } catch (error) {
      listenPromise = undefined
      throw new StateError('unavailable', 'The bus of sessions cannot be reached', { cause: error })
    }
  }
  return {
    add: listen,
    async isLive(id) {
      await listen()
      return localRegistry.isLive(await toStoreKey('session', id))
    },
    async end(id, ttlMs, owner) {
      const endedKey = await toStoreKey('session', id)
      await localRegistry.end(endedKey, ttlMs, owner)
      await bus.publish({ topic: sessionEndsTopic, data: { ended: endedKey, ttlMs } })
    },
    async close() {
      const openListenPromise = listenPromise
      listenPromise = undefined
      await openListenPromise?.then((stop) => stop()).catch(() => {})
    },
  }
}

/** Returns a key of the store. It is a digest, so that the ids in a store that leaks cannot be used. */
export async function toStoreKey(kind: string, id: string): Promise<string> {
  return `${kind}:${await sha256Hex(`x/sessions ${kind} ${id}`)}`
}
