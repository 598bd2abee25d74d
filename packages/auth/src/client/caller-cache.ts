/** The number of callers whose values are kept. The one that has been idle for longest is dropped. */
const maxCallers = 1000
/** Milliseconds after which the value of a caller without calls is dropped. */
const idleMs = 600_000

/** The values of the latest callers of a gateway, by key. */
export class CallerCache<T> {
  readonly #now: () => number
  /** The last entry is the one that was used last. */
  readonly #entries = new Map<string, { readonly value: T; readonly usedAt: number }>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Returns the value of a caller, and keeps it for ten minutes more. */
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
