/** Storage of logins, registrations and pending logins: text by key. It holds secrets of one user. */
export interface AuthStore {
  get(key: string): Promise<string | undefined>
  set(key: string, value: string): Promise<void>
  delete(key: string): Promise<void>
  /** Runs `run` alone among all that share the store and the key. Without it, alone in this process. */
  lock?<T>(key: string, run: () => Promise<T>): Promise<T>
}

/** Keeps logins for as long as the process lives. */
export function memoryStore(): AuthStore {
  const values = new Map<string, string>()
  return {
    get: async (key) => values.get(key),
    set: async (key, value) => void values.set(key, value),
    delete: async (key) => void values.delete(key),
  }
}

/** The Web Storage API, as far as a store uses it. */
export interface WebStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

/** The Web Locks API, as far as a store uses it. */
export interface WebLocks {
  request<T>(name: string, run: () => Promise<T>): Promise<T>
}

/**
 * Keeps logins in `sessionStorage` or `localStorage`, where every script of the page can read them. Give
 * `navigator.locks` as well where tabs share the storage.
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

/** Runs one function at a time for a key: over all processes where the store has locks, else in this process. */
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
