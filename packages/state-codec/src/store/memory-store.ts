import { type OptionTable, platformRuntime, resolveOptions, type Runtime } from '@x/core'
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
  /** How many values the store holds. Default: 10,000. */
  readonly maxEntries?: number | undefined
  /** How many characters the store holds, keys included. Default: 64 Mi. */
  readonly maxCharacters?: number | undefined
  /** How many values one owner may have. Default: a tenth of `maxEntries`. */
  readonly maxEntriesPerOwner?: number | undefined
  /** How many characters one owner may have, keys included. Default: a tenth of `maxCharacters`. */
  readonly maxCharactersPerOwner?: number | undefined
  readonly runtime?: Pick<Runtime, 'now'> | undefined
}

interface StoredEntry {
  readonly value: string
  readonly expiresAt: number
  readonly owner: string | undefined
}

// limit: `maxEntriesPerOwner`, `maxCharactersPerOwner` of `memoryStore` | share | the part of `maxEntries` and
//   `maxCharacters` that one caller may use | quota
const ownerLimitFraction = 1 / 10

const storeOptionTable = {
  // limit: `maxEntries` of `memoryStore` | count | values in the store | `-32603`
  maxEntries: 10_000,
  // limit: `maxCharacters` of `memoryStore` | characters | values in the store together | `-32603`
  maxCharacters: 64 * 1024 * 1024,
  maxEntriesPerOwner: undefined,
  maxCharactersPerOwner: undefined,
  runtime: { default: platformRuntime },
} satisfies OptionTable<MemoryStoreOptions>

/**
 * Keeps states in this process, for a server with one instance and for tests. A full store throws a `StateError` with
 * `unavailable`, and a full quota of an owner throws one with `quota`; the `detail` of the error names the limit, and
 * `retryAfterMs` is the time until a value expires. Values are never evicted, because a single-use token could be used
 * again after an eviction.
 */
export function memoryStore(options: MemoryStoreOptions = {}): StateStore {
  const storage = new MemoryStorage(options)
  return { ...createOperations(storage, undefined), forOwner: (owner) => createOperations(storage, owner) }
}

function createOperations(storage: MemoryStorage, owner: string | undefined): Required<Omit<StateStore, 'forOwner'>> {
  return {
    add: async (key, value, ttlMs) => storage.add(key, value, ttlMs, owner),
    get: async (key) => storage.findLiveEntry(key)?.value,
    delete: async (key) => storage.remove(key),
    expire: async (key, ttlMs) => storage.expire(key, ttlMs),
  }
}

class MemoryStorage {
  // Bounded by `maxEntriesPerOwner` and `maxEntries`.
  readonly #entries = new Map<string, StoredEntry>()
  // Bounded by `maxEntries`, as each owner has one.
  readonly #usageByOwner = new Map<string, { entryCount: number; characterCount: number; earliestExpiry: number }>()
  readonly #maxUsage: StorageUsage
  readonly #maxUsagePerOwner: StorageUsage
  readonly #clock: Pick<Runtime, 'now'>
  #characterCount = 0
  #earliestExpiry = Infinity

  constructor(options: MemoryStoreOptions) {
    const { maxEntries, maxCharacters, runtime, ...perOwner } = resolveOptions(options, storeOptionTable, 'memoryStore')
    const { maxEntriesPerOwner = Math.ceil(maxEntries * ownerLimitFraction) } = perOwner
    const { maxCharactersPerOwner = Math.ceil(maxCharacters * ownerLimitFraction) } = perOwner
    this.#maxUsage = { entryCount: maxEntries, characterCount: maxCharacters }
    this.#maxUsagePerOwner = { entryCount: maxEntriesPerOwner, characterCount: maxCharactersPerOwner }
    this.#clock = runtime
  }

  add(key: string, value: string, ttlMs: number, owner: string | undefined): boolean {
    if (this.findLiveEntry(key) !== undefined) return false
    const now = this.#clock.now()
    const entryLength = key.length + value.length
    if (this.#findStoreLimit(entryLength, owner) !== undefined) this.#removeExpired(now)
    const storeLimit = this.#findStoreLimit(entryLength, owner)
    if (storeLimit !== undefined) throw this.#createFullError(storeLimit.reachedLimit, storeLimit.owner, now)
    this.#entries.set(key, { value, expiresAt: now + ttlMs, owner })
    this.#addUsage(owner, 1, entryLength)
    this.#updateEarliestExpiry(owner, now + ttlMs)
    return true
  }

  findLiveEntry(key: string): StoredEntry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || this.#clock.now() < entry.expiresAt) return entry
    this.remove(key)
    return undefined
  }

  remove(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#addUsage(entry.owner, -1, -(key.length + entry.value.length))
  }

  expire(key: string, ttlMs: number): void {
    const entry = this.findLiveEntry(key)
    if (entry === undefined) return
    const expiresAt = Math.min(entry.expiresAt, this.#clock.now() + ttlMs)
    this.#entries.set(key, { ...entry, expiresAt })
    this.#updateEarliestExpiry(entry.owner, expiresAt)
  }

  #updateEarliestExpiry(owner: string | undefined, expiresAt: number): void {
    this.#earliestExpiry = Math.min(this.#earliestExpiry, expiresAt)
    const ownerUsage = owner === undefined ? undefined : this.#usageByOwner.get(owner)
    if (ownerUsage !== undefined) ownerUsage.earliestExpiry = Math.min(ownerUsage.earliestExpiry, expiresAt)
  }

  #addUsage(owner: string | undefined, entryCount: number, characterCount: number): void {
    this.#characterCount += characterCount
    if (owner === undefined) return
    const ownerUsage = this.#usageByOwner.get(owner) ?? { entryCount: 0, characterCount: 0, earliestExpiry: Infinity }
    ownerUsage.entryCount += entryCount
    ownerUsage.characterCount += characterCount
    if (ownerUsage.entryCount > 0) this.#usageByOwner.set(owner, ownerUsage)
    else this.#usageByOwner.delete(owner)
  }

  #removeExpired(now: number): void {
    // Nothing to remove before the first expiry. Without this check, every call would scan a full store.
    if (now < this.#earliestExpiry) return
    this.#earliestExpiry = Infinity
    for (const [key, { expiresAt }] of this.#entries) {
      if (expiresAt <= now) this.remove(key)
      else this.#earliestExpiry = Math.min(this.#earliestExpiry, expiresAt)
    }
  }

  #findStoreLimit(
    entryLength: number,
    owner: string | undefined,
  ): { readonly reachedLimit: ReachedLimit; readonly owner: string | undefined } | undefined {
    const ownerUsage = owner === undefined ? undefined : (this.#usageByOwner.get(owner) ?? emptyUsage)
    const ownerLimit = ownerUsage && findReachedLimit(ownerUsage, this.#maxUsagePerOwner, entryLength)
    if (ownerLimit !== undefined) return { reachedLimit: ownerLimit, owner }
    const totalUsage = { entryCount: this.#entries.size, characterCount: this.#characterCount }
    const totalLimit = findReachedLimit(totalUsage, this.#maxUsage, entryLength)
    return totalLimit && { reachedLimit: totalLimit, owner: undefined }
  }

  #createFullError(reachedLimit: ReachedLimit, owner: string | undefined, now: number): StateError {
    if (owner !== undefined)
      return ownerQuotaError('The store in memory', reachedLimit, this.#findEarliestExpiry(owner, now) - now)
    const { retryAfterMs, text } = describeLimit(reachedLimit, this.#earliestExpiry - now)
    return new StateError('unavailable', `The store in memory is full ${text}`, { retryAfterMs })
  }

  /** Cached, so that repeated errors for one owner need no search. */
  #findEarliestExpiry(owner: string, now: number): number {
    const ownerUsage = this.#usageByOwner.get(owner)
    if (ownerUsage === undefined) return Infinity
    if (ownerUsage.earliestExpiry > now) return ownerUsage.earliestExpiry
    ownerUsage.earliestExpiry = Infinity
    for (const entry of this.#entries.values()) {
      if (entry.owner === owner) ownerUsage.earliestExpiry = Math.min(ownerUsage.earliestExpiry, entry.expiresAt)
    }
    return ownerUsage.earliestExpiry
  }
}

const emptyUsage: StorageUsage = { entryCount: 0, characterCount: 0 }
