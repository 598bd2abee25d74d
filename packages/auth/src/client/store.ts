/** Texts by key: the logins, client registrations and pending logins of one user, including secrets. */
export interface AuthStore {
  get(key: string): Promise<string | undefined>
  set(key: string, value: string): Promise<void>
  delete(key: string): Promise<void>
  /**
   * Runs `run` while no other caller runs with the same key, in any process that shares the store. Without it, only the
   * callers in this process are excluded.
   */
  lock?<T>(key: string, run: () => Promise<T>): Promise<T>
}

/** Keeps logins in memory, until the process ends. */
export function memoryAuthStore(): AuthStore {
  // Bounded by the logins of one user, since attempts at an endpoint have a limit.
  const values = new Map<string, string>()
  return {
    get: async (key) => values.get(key),
    set: async (key, value) => void values.set(key, value),
    delete: async (key) => void values.delete(key),
  }
}

/** As much of the Web Storage API as a store uses. */
export interface WebStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

/** As much of the Web Locks API as a store uses. */
export interface WebLocks {
  request<T>(name: string, run: () => Promise<T>): Promise<T>
}

/**
 * Keeps logins in `sessionStorage` or `localStorage`, where every script of the page can read them. Pass
 * `navigator.locks` too if several tabs share the storage.
 */
export function webStorageStore(storage: WebStorage, locks?: WebLocks): AuthStore {
  const toStorageKey = (key: string): string => `mcp-auth ${key}`
  return {
    get: async (key) => storage.getItem(toStorageKey(key)) ?? undefined,
    set: async (key, value) => storage.setItem(toStorageKey(key), value),
    delete: async (key) => storage.removeItem(toStorageKey(key)),
    ...(locks && { lock: <T>(key: string, run: () => Promise<T>) => locks.request(toStorageKey(key), run) }),
  }
}

const lockQueues = new WeakMap<AuthStore, Map<string, Promise<unknown>>>()

/** One function at a time for each key. A store with locks excludes other processes as well. */
export function withLock<T>(store: AuthStore, key: string, run: () => Promise<T>): Promise<T> {
  // Bounded by the accesses to the store that run.
  const queueByKey = lockQueues.get(store) ?? new Map<string, Promise<unknown>>()
  lockQueues.set(store, queueByKey)
  const runLocked = (): Promise<T> => (store.lock === undefined ? run() : store.lock(key, run))
  const queuedRun = (queueByKey.get(key) ?? Promise.resolve()).then(runLocked, runLocked)
  queueByKey.set(key, queuedRun)
  const removeFromQueue = (): void => {
    if (queueByKey.get(key) === queuedRun) queueByKey.delete(key)
  }
  queuedRun.then(removeFromQueue, removeFromQueue)
  return queuedRun
}
