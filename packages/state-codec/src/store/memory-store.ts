import type { Runtime } from '@x/core'
import type { StateStore } from '../state-codec.ts'
import { StateError } from '../state-error.ts'
import {
  type StorageUsage,
  describeLimit,
  findReachedLimit,
  ownerQuotaError,
  type ReachedLimit,
} from './owner-quota.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** The number of values held at once. Default: 10,000. */
  readonly maxEntries?: number | undefined
  /** The total number of characters, keys included. Default: 64 Mi. */
  readonly maxCharacters?: number | undefined
  /** The number of values that one owner may hold at once. Default: a tenth of `maxEntries`. */
  readonly maxEntriesPerOwner?: number | undefined
  /** The number of characters that one owner may hold, keys included. Default: a tenth of `maxCharacters`. */
  readonly maxCharactersPerOwner?: number | undefined
  readonly runtime?: Pick<Runtime, 'now'> | undefined
}

interface StoredEntry {
  readonly value: string
  readonly until: number
  readonly owner: string | undefined
}

/** The amount that an owner holds. */
interface OwnerUsage {
  entryCount: number
  characterCount: number
  /** No value of the owner expires before this time. */
  earliestExpiry: number
}

/** The share of the store that one owner may hold when no option says otherwise. */
const ownerLimitFraction = 1 / 10

const defaultLimits = { maxEntries: 10_000, maxCharacters: 64 * 1024 * 1024 }

/**
 * Creates a store in this process, for one instance and for tests. A full store throws `unavailable` and evicts
 * nothing: an evicted single use could be used again. An owner who has as much as one may have gets `quota`. The
 * error's `detail` names the limit, and its `retryAfterMs` is the time until a value expires.
 */
export function memoryStore(options: MemoryStoreOptions = {}): StateStore {
  const memory = new MemoryStorage(options)
  return { ...operationsOf(memory, undefined), forOwner: (owner) => operationsOf(memory, owner) }
}

function operationsOf(memory: MemoryStorage, owner: string | undefined): Required<Omit<StateStore, 'forOwner'>> {
  return {
    add: async (key, value, ttlMs) => memory.add(key, { value, ttlMs, owner }),
    get: async (key) => memory.findLiveEntry(key)?.value,
    delete: async (key) => memory.remove(key),
    expire: async (key, ttlMs) => memory.expire(key, ttlMs),
  }
}

interface NewEntry {
  readonly value: string
  readonly ttlMs: number
  readonly owner: string | undefined
}

class MemoryStorage {
  readonly #entries = new Map<string, StoredEntry>()
  readonly #byOwner = new Map<string, OwnerUsage>()
  readonly #maxUsage: StorageUsage
  readonly #maxUsagePerOwner: StorageUsage
  readonly #clock: Pick<Runtime, 'now'>
  #characterCount = 0
  #soonestExpiry = Infinity

  constructor(options: MemoryStoreOptions) {
    const { maxEntries = defaultLimits.maxEntries, maxCharacters = defaultLimits.maxCharacters } = options
    const { maxEntriesPerOwner = Math.ceil(maxEntries * ownerLimitFraction) } = options
    const { maxCharactersPerOwner = Math.ceil(maxCharacters * ownerLimitFraction) } = options
    this.#maxUsage = { entryCount: maxEntries, characterCount: maxCharacters }
    this.#maxUsagePerOwner = { entryCount: maxEntriesPerOwner, characterCount: maxCharactersPerOwner }
    this.#clock = options.runtime ?? { now: () => Date.now() }
  }

  add(key: string, { value, ttlMs, owner }: NewEntry): boolean {
    if (this.findLiveEntry(key) !== undefined) return false
    const now = this.#clock.now()
    const size = key.length + value.length
    if (this.#limitReached(size, owner) !== undefined) this.#removeExpired(now)
    const reason = this.#limitReached(size, owner)
    if (reason !== undefined) throw this.#full(reason, now)
    this.#entries.set(key, { value, until: now + ttlMs, owner })
    this.#count(owner, 1, size)
    this.#noteExpiry(owner, now + ttlMs)
    return true
  }

  findLiveEntry(key: string): StoredEntry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || this.#clock.now() < entry.until) return entry
    this.remove(key)
    return undefined
  }

  remove(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#count(entry.owner, -1, -(key.length + entry.value.length))
  }

  expire(key: string, ttlMs: number): void {
    const entry = this.findLiveEntry(key)
    if (entry === undefined) return
    const until = Math.min(entry.until, this.#clock.now() + ttlMs)
    this.#entries.set(key, { ...entry, until })
    this.#noteExpiry(entry.owner, until)
  }

  #noteExpiry(owner: string | undefined, until: number): void {
    this.#soonestExpiry = Math.min(this.#soonestExpiry, until)
    const ownerUsage = owner === undefined ? undefined : this.#byOwner.get(owner)
    if (ownerUsage !== undefined) ownerUsage.earliestExpiry = Math.min(ownerUsage.earliestExpiry, until)
  }

  #count(owner: string | undefined, entries: number, characterCount: number): void {
    this.#characterCount += characterCount
    if (owner === undefined) return
    const ownerUsage = this.#byOwner.get(owner) ?? { entryCount: 0, characterCount: 0, earliestExpiry: Infinity }
    ownerUsage.entryCount += entries
    ownerUsage.characterCount += characterCount
    if (ownerUsage.entryCount > 0) this.#byOwner.set(owner, ownerUsage)
    else this.#byOwner.delete(owner)
  }

  #removeExpired(now: number): void {
    // Before the first expiry there is nothing to remove: a full store must not be scanned at every call.
    if (now < this.#soonestExpiry) return
    this.#soonestExpiry = Infinity
    for (const [key, { until }] of this.#entries) {
      if (until <= now) this.remove(key)
      else this.#soonestExpiry = Math.min(this.#soonestExpiry, until)
    }
  }

  /** Returns the limit that a value of some size does not fit into: the owner's, or that of the whole store. */
  #limitReached(size: number, owner: string | undefined): StoreLimit | undefined {
    const ownerUsage = owner === undefined ? undefined : (this.#byOwner.get(owner) ?? emptyUsage)
    const ownerLimit = ownerUsage && findReachedLimit(ownerUsage, this.#maxUsagePerOwner, size)
    if (ownerLimit !== undefined) return { reachedLimit: ownerLimit, owner }
    const totalUsage = { entryCount: this.#entries.size, characterCount: this.#characterCount }
    const totalLimit = findReachedLimit(totalUsage, this.#maxUsage, size)
    return totalLimit && { reachedLimit: totalLimit, owner: undefined }
  }

  #full({ reachedLimit, owner }: StoreLimit, now: number): StateError {
    if (owner !== undefined)
      return ownerQuotaError('The store in memory', reachedLimit, this.#soonestExpiryOf(owner, now) - now)
    const { retryAfterMs, text } = describeLimit(reachedLimit, this.#soonestExpiry - now)
    return new StateError('unavailable', `The store in memory is full ${text}`, { retryAfterMs })
  }

  /**
   * Returns when the first value of an owner expires. An owner who is refused again and again costs no search each
   * time.
   */
  #soonestExpiryOf(owner: string, now: number): number {
    const ownerUsage = this.#byOwner.get(owner)
    if (ownerUsage === undefined) return Infinity
    if (ownerUsage.earliestExpiry > now) return ownerUsage.earliestExpiry
    ownerUsage.earliestExpiry = Infinity
    for (const entry of this.#entries.values()) {
      if (entry.owner === owner) ownerUsage.earliestExpiry = Math.min(ownerUsage.earliestExpiry, entry.until)
    }
    return ownerUsage.earliestExpiry
  }
}

const emptyUsage: StorageUsage = { entryCount: 0, characterCount: 0 }

interface StoreLimit {
  readonly reachedLimit: ReachedLimit
  /** Undefined where the whole store is full. */
  readonly owner: string | undefined
}
