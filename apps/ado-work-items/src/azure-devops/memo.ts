/** The lifetime of a result, with its clock (milliseconds). */
export interface MemoOptions {
  readonly ttlMs: number
  /** The number of results kept; beyond it the oldest is evicted. */
  readonly size?: number
  readonly now?: () => number
}

/**
 * Remembers what `load` resolved to, by key. Callers that come while it loads share the load; failures are not kept.
 */
export function createMemo<T>(load: (key: string) => Promise<T>, options: MemoOptions): (key: string) => Promise<T> {
  const { ttlMs, size = 100, now = Date.now } = options
  const kept = new Map<string, { readonly until: number; readonly value: Promise<T> }>()
  return (key) => {
    const entry = kept.get(key)
    if (entry !== undefined && now() < entry.until) return entry.value
    const value = load(key)
    kept.delete(key)
    kept.set(key, { until: now() + ttlMs, value })
    for (const oldest of kept.keys()) {
      if (kept.size <= size) break
      kept.delete(oldest)
    }
    value.catch(() => {
      if (kept.get(key)?.value === value) kept.delete(key)
    })
    return value
  }
}
