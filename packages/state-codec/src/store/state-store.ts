/** A key-value store whose operations are each atomic over all instances that share the store. */
export interface StateStore {
  /**
   * Adds a value for a time in milliseconds. Returns `false` and changes nothing when the key has an unexpired value.
   */
  add(key: string, value: string, ttlMs: number): Promise<boolean>
  /** Returns the unexpired value of a key. */
  get(key: string): Promise<string | undefined>
  /** Deletes a key if it exists. */
  delete(key: string): Promise<void>
  /**
   * Lets a key expire in some milliseconds, unless it does so earlier; a key that is not there stays so. Without this operation a value
   * that was replaced stays until its successor is read, or until it expires.
   */
  expire?(key: string, ttlMs: number): Promise<void>
  /**
   * Returns the same store for one owner: what it adds counts against the owner's quota, so that no owner fills the store
   * for all others. `add` rejects with a `StateError` `quota` when the owner has as much as one may have. Without this
   * operation owners share one store without limits of their own.
   */
  ownedBy?: ((owner: string) => StateStore) | undefined
}
