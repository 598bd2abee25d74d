/**
 * A store of texts by key. It contains the logins, the client registrations and the pending logins of one user,
 * including secrets.
 */
export interface AuthStore {
  get(key: string): Promise<string | undefined>
  set(key: string, value: string): Promise<void>
  delete(key: string): Promise<void>
  /**
   * Runs `run` while no other caller runs with the same key, in any process that shares the store. Without this
   * function, only the callers in this process are excluded.
   */
  lock?<T>(key: string, run: () => Promise<T>): Promise<T>
}

/** Creates a store in memory, whose logins are lost when the process ends. */
export function memoryAuthStore(): AuthStore {
  const values = new Map<string, string>()
  return {
    get: async (key) => values.get(key),
    set: async (key, value) => void values.set(key, value),
    delete: async (key) => void values.delete(key),
  }
}

/** The part of the Web Storage API that a store uses. */
export interface WebStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

/** The part of the Web Locks API that a store uses. */
export interface WebLocks {
  request<T>(name: string, run: () => Promise<T>): Promise<T>
}

/**
 * Creates a store in `sessionStorage` or `localStorage`, where every script of the page can read the logins. Also pass
 * `navigator.locks` if several tabs share the storage.
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

/** Runs one function at a time for each key. If the store has locks, they exclude other processes as well. */
export function withLock<T>(store: AuthStore, key: string, run: () => Promise<T>): Promise<T> {
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
