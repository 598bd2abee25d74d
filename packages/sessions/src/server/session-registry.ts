import { type Change, type ChangeBus, sha256Hex, storeOfOwner } from '@x/core'
import { isStateError, memoryStore, StateError, type StateStore } from '@x/state-codec'

/** Which sessions have ended, as a store or this process knows it. */
export interface SessionRegistry {
  /** Rejects with a `StateError` `quota` if the owner has the maximum number of sessions. */
  add(id: string, ttlMs: number, owner: string): Promise<void>
  /** False for a session that has ended, as far as this registry knows. */
  isLive(id: string): Promise<boolean>
  /**
   * Ends a session whose id would be valid for another `ttlMs`. `owner` is the caller that ends it, or undefined if the
   * program does.
   */
  end(id: string, ttlMs: number, owner?: string): Promise<void>
  /** Stops listening to a bus. */
  close(): Promise<void>
}

/**
 * In a store or, without one, in this process, which knows only ended sessions. With a bus it also knows those that
 * other instances ended.
 */
export function createSessionRegistry(
  store: StateStore | undefined,
  bus: ChangeBus | undefined,
  now: () => number,
): SessionRegistry {
  if (store !== undefined) return createStoreRegistry(store)
  return bus === undefined ? createMemoryRegistry(now) : createReplicatedRegistry(createMemoryRegistry(now), bus)
}

/**
 * A session that is not in the store has ended. If a store loses its content, sessions end, but no ended one becomes
 * valid again.
 */
function createStoreRegistry(store: StateStore): SessionRegistry {
  return {
    add: async (id, ttlMs, owner) => {
      const key = await toStoreKey('session', id)
      await reachStore(() => storeOfOwner(store, owner).add(key, '1', ttlMs))
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

/** An error of any other class than `StateError` means that the store cannot be reached. */
async function reachStore<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (cause) {
    if (isStateError(cause)) throw cause
    throw new StateError('unavailable', 'The store of sessions cannot be reached', { cause })
  }
}

const maxEndedSessions = 10_000

function createMemoryRegistry(now: () => number): SessionRegistry {
  const endedSessions = memoryStore({ maxEntries: maxEndedSessions, runtime: { now } })
  return {
    add: () => Promise.resolve(),
    isLive: async (id) => (await endedSessions.get(id)) === undefined,
    async end(id, ttlMs, owner) {
      const ownerStore = owner === undefined ? endedSessions : storeOfOwner(endedSessions, owner)
      try {
        await ownerStore.add(id, '1', ttlMs)
      } catch (error) {
        // Full, so the end is not recorded, and the session stays valid at this instance until it expires. One caller
        // alone cannot fill the registry.
        if (!isStateError(error)) throw error
      }
    },
    close: () => Promise.resolve(),
  }
}

const sessionEndsTopic = 'x/sessions'

/**
 * Notifies other instances of ended sessions. The messages contain digests of ids, which are enough to recognize one.
 * Requests wait until this instance listens to the bus, and fail until the bus could be reached once.
 */
function createReplicatedRegistry(localRegistry: SessionRegistry, bus: ChangeBus): SessionRegistry {
  let listenPromise: Promise<() => void> | undefined
  const listener = {
    onChange: ({ topic: changeTopic, data }: Change): void => {
      const { ended, ttlMs } = changeTopic === sessionEndsTopic && data !== undefined ? data : {}
      if (typeof ended === 'string' && typeof ttlMs === 'number') void localRegistry.end(ended, ttlMs)
    },
    // The ends that were published during the gap are lost. At this instance those sessions stay valid until they
    // expire.
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

/** A digest, so that an attacker who reads the store cannot use the sessions. */
export async function toStoreKey(kind: string, id: string): Promise<string> {
  return `${kind}:${await sha256Hex(`x/sessions ${kind} ${id}`)}`
}
