import { encodeBase64url, ledgerBounds, type LedgerKind, type OptionTable, type ResolvedOptions } from '@x/core'
import type { StateStore } from '../state-codec.ts'
import { StateError } from '../state-error.ts'

/** The quotas of every owner in a store that several instances share. */
export interface OwnerQuotaOptions {
  /** The maximum number of values of one owner. Default: 1000. */
  readonly maxEntriesPerOwner?: number | undefined
  /** The maximum number of characters of one owner, including keys. Default: 8 Mi. */
  readonly maxCharactersPerOwner?: number | undefined
}

/** The amount of stored values that an owner has or may have. */
export interface StorageUsage {
  readonly entryCount: number
  readonly characterCount: number
}

/** A limit that a new value would exceed. */
export interface ReachedLimit {
  /** The option that sets the limit. */
  readonly name: 'maxEntries' | 'maxCharacters'
  readonly max: number
  readonly usageText: string
  /** True if the value is larger than the whole limit, so that it can never be added. */
  readonly isTooLarge: boolean
}

/** The kind of the ledger for each limit. */
const kindsByLimit = { maxEntries: 'states', maxCharacters: 'bytes' } as const satisfies Record<string, LedgerKind>

export const quotaOptionTable = {
  // limit: `maxEntriesPerOwner` of `redisStore`, `postgresStore` | count | values of one caller | quota
  maxEntriesPerOwner: ledgerBounds.states.perCaller,
  // limit: `maxCharactersPerOwner` of `redisStore`, `postgresStore` | characters | values of one caller together |
  //   quota
  maxCharactersPerOwner: 8 * 1024 * 1024,
} satisfies OptionTable<OwnerQuotaOptions>

/** Returns the quota of every owner. */
export function ownerQuotaOf({
  maxEntriesPerOwner: entryCount,
  maxCharactersPerOwner: characterCount,
}: ResolvedOptions<OwnerQuotaOptions, typeof quotaOptionTable>): StorageUsage {
  return { entryCount, characterCount }
}

/**
 * Returns the name of an owner in a shared store. The name is a digest, so that the store contains no subject and no
 * address.
 */
async function digestOwner(owner: string): Promise<string> {
  const bytes = new TextEncoder().encode(`x/state-codec owner ${owner}`)
  return encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}

/** The operations of a shared store that are the same for every owner. */
export type SharedOperations = Required<Pick<StateStore, 'get' | 'delete' | 'expire'>>

/** A value to add to a store. `owner` is the digest of its owner. */
export interface NewOwnedEntry {
  readonly owner: string
  readonly key: string
  readonly value: string
  readonly ttlMs: number
}

/** Creates the view of a shared store for one owner. The digest of the owner is computed once, with the first value. */
export function createOwnerStore(
  owner: string,
  operations: SharedOperations,
  add: (addition: NewOwnedEntry) => Promise<boolean>,
): StateStore {
  let digest: Promise<string> | undefined
  return {
    ...operations,
    async add(key, value, ttlMs) {
      digest ??= digestOwner(owner)
      return add({ owner: await digest, key, value, ttlMs })
    },
  }
}

/** Returns the limit that a new value would exceed, or undefined if the value fits. */
export function findReachedLimit(
  usage: StorageUsage,
  maxUsage: StorageUsage,
  entryLength: number,
): ReachedLimit | undefined {
  const isTooLarge = entryLength > maxUsage.characterCount
  if (usage.entryCount >= maxUsage.entryCount) {
    return { name: 'maxEntries', max: maxUsage.entryCount, usageText: `${usage.entryCount} values`, isTooLarge }
  }
  if (usage.characterCount + entryLength <= maxUsage.characterCount) return undefined
  const usageText = `${usage.characterCount} characters, ${entryLength} more were to be added`
  return { name: 'maxCharacters', max: maxUsage.characterCount, usageText, isTooLarge }
}

/** Creates the error for an owner whose quota is full. */
export function ownerQuotaError(storeName: string, reachedLimit: ReachedLimit, soonestExpiryMs: number): StateError {
  const { name, max } = reachedLimit
  const { retryAfterMs, text } = describeLimit({ ...reachedLimit, name: `${name}PerOwner` }, soonestExpiryMs)
  const detail = `${storeName} has enough of one owner ${text}`
  return new StateError('quota', detail, { retryAfterMs, quota: { limit: kindsByLimit[name], max } })
}

/**
 * Returns a text about a reached limit for the log, and the milliseconds after which a new value may fit. They are the
 * time until the first stored value expires, or undefined if that time is unknown, or if the value is larger than the
 * limit.
 */
export function describeLimit(
  { name, max, usageText, isTooLarge }: Omit<ReachedLimit, 'name'> & { readonly name: string },
  msUntilExpiry: number,
): { readonly text: string; readonly retryAfterMs: number | undefined } {
  const retryAfterMs = !isTooLarge && Number.isFinite(msUntilExpiry) ? Math.max(1, Math.ceil(msUntilExpiry)) : undefined
  const advice = retryAfterMs === undefined ? 'raise the limit' : `try again in ${retryAfterMs} ms`
  return { text: `(${name}: it keeps ${usageText}; the limit is ${max}): ${advice}`, retryAfterMs }
}
