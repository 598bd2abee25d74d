import type { StateClock } from '../state-codec.ts'
import { StateError } from '../state-error.ts'
import type { StateStore } from './state-store.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** The number of values held at once. Default: 10,000. */
  readonly maxEntries?: number | undefined
  /** The total number of characters, keys included. Default: 64 Mi. */
  readonly maxCharacters?: number | undefined
  readonly clock?: StateClock | undefined
}

interface Entry {
  readonly value: string
  readonly until: number
}

/**
 * Creates a store in this process, for one instance and for tests. A full store throws `unavailable` and evicts
 * nothing: an evicted single use could be used again. The error's `detail` names the limit, and its `retryAfterMs` is the
 * time until the next value expires.
 */
export function memoryStore(options: MemoryStoreOptions = {}): StateStore {
  const { maxEntries = 10_000, maxCharacters = 64 * 1024 * 1024, clock = { now: () => Date.now() } } = options
  const entries = new Map<string, Entry>()
  let characters = 0
  let soonest = Infinity

  const remove = (key: string): void => {
    const entry = entries.get(key)
    if (entry !== undefined) characters -= key.length + entry.value.length
    entries.delete(key)
  }
  const removeExpired = (now: number): void => {
    // Before the first expiry there is nothing to remove: a full store must not be scanned at every call.
    if (now < soonest) return
    soonest = Infinity
    for (const [key, { until }] of entries) {
      if (until <= now) remove(key)
      else soonest = Math.min(soonest, until)
    }
  }
  const live = (key: string): Entry | undefined => {
    const entry = entries.get(key)
    if (entry === undefined || clock.now() < entry.until) return entry
    remove(key)
    return undefined
  }

  const full = (size: number, now: number): StateError => {
    const quota =
      entries.size >= maxEntries
        ? `maxEntries: it keeps ${entries.size} values, the most is ${maxEntries}`
        : `maxCharacters: it keeps ${characters} characters, ${size} more were to be added, the most is ${maxCharacters}`
    // A value that is larger than the whole store never fits.
    const retryAfterMs = size <= maxCharacters && Number.isFinite(soonest) ? Math.max(1, soonest - now) : undefined
    const advice = retryAfterMs === undefined ? 'raise the limit' : `try again in ${retryAfterMs} ms`
    return new StateError('unavailable', `The store in memory is full (${quota}): ${advice}`, { retryAfterMs })
  }

  return {
    async add(key, value, ttlMs) {
      if (live(key) !== undefined) return false
      const now = clock.now()
      const size = key.length + value.length
      const fits = (): boolean => entries.size < maxEntries && characters + size <= maxCharacters
      if (!fits()) removeExpired(now)
      if (!fits()) throw full(size, now)
      entries.set(key, { value, until: now + ttlMs })
      characters += size
      soonest = Math.min(soonest, now + ttlMs)
      return true
    },
    get: async (key) => live(key)?.value,
    delete: async (key) => remove(key),
    async expire(key, ttlMs) {
      const entry = live(key)
      if (entry === undefined) return
      const until = Math.min(entry.until, clock.now() + ttlMs)
      entries.set(key, { value: entry.value, until })
      soonest = Math.min(soonest, until)
    },
  }
}
