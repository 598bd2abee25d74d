import type { StateClock } from '../state-codec.ts'
import { StateError } from '../state-error.ts'
import type { StateStore } from './state-store.ts'

/** The options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** How many values are kept at once. Default: 10,000. */
  readonly maxEntries?: number | undefined
  /** How many characters they have together, keys included. Default: 64 Mi. */
  readonly maxCharacters?: number | undefined
  readonly clock?: StateClock | undefined
}

interface Entry {
  readonly value: string
  readonly until: number
}

/**
 * A store in this process: for one instance, and for tests. When it is full it refuses with `unavailable` instead of forgetting what it
 * promised to keep, because a forgotten use could be used again.
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
    // Nothing to look for until the first of them is due: a full store must not be walked at every call.
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

  return {
    async add(key, value, ttlMs) {
      if (live(key) !== undefined) return false
      const now = clock.now()
      const size = key.length + value.length
      const fits = (): boolean => entries.size < maxEntries && characters + size <= maxCharacters
      if (!fits()) removeExpired(now)
      if (!fits()) throw new StateError('unavailable', `The store in memory is full, with ${entries.size} values`)
      entries.set(key, { value, until: now + ttlMs })
      characters += size
      soonest = Math.min(soonest, now + ttlMs)
      return true
    },
    get: async (key) => live(key)?.value,
    delete: async (key) => remove(key),
  }
}
