/** Where values stay that do not travel: three operations, each atomic over all instances that share the store. */
export interface StateStore {
  /** Keeps a value for some milliseconds. Answers false, and keeps what is there, when the key has a value that has not expired. */
  add(key: string, value: string, ttlMs: number): Promise<boolean>
  /** The value of a key, until it has expired. */
  get(key: string): Promise<string | undefined>
  /** Forgets a key, whether it is there or not. */
  delete(key: string): Promise<void>
}
