/** The lifetime of a result in milliseconds, with its clock. */
export interface MemoOptions {
  readonly ttlMs: number
  /** The maximum number of results; beyond it the oldest is evicted. */
  readonly size?: number
  readonly now?: () => number
}

/** Caches the results of `load` by key. Concurrent callers share one load. Failures are not cached. */
export function createMemo<T>(load: (key: string) => Promise<T>, options: MemoOptions): (key: string) => Promise<T> {
  const { ttlMs, size = 100, now = Date.now } = options
  const results = new Map<string, { readonly until: number; readonly value: Promise<T> }>()
  return (key) => {
    const entry = results.get(key)
    if (entry !== undefined && now() < entry.until) return entry.value
    const value = load(key)
    results.delete(key)
    results.set(key, { until: now() + ttlMs, value })
    for (const oldest of results.keys()) {
      if (results.size <= size) break
      results.delete(oldest)
    }
    value.catch(() => {
      if (results.get(key)?.value === value) results.delete(key)
    })
    return value
  }
}
