/** Beyond it, the caller that has been idle for longest is dropped. */
const maxCallers = 1000
const idleMs = 600_000

/** A gateway's values for its latest callers, by key. */
export class CallerCache<T> {
  readonly #now: () => number
  /** The entry that was used last is the last one. */
  readonly #entries = new Map<string, { readonly value: T; readonly usedAt: number }>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Keeps the value for another ten minutes, too. */
  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined ? undefined : this.set(key, entry.value)
  }

  set(key: string, value: T): T {
    const now = this.#now()
    this.#entries.delete(key)
    this.#entries.set(key, { value, usedAt: now })
    for (const [other, { usedAt }] of this.#entries) {
      if (this.#entries.size <= maxCallers && now - usedAt < idleMs) break
      this.#entries.delete(other)
    }
    return value
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }
}
