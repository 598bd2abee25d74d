import { encodeBase64url, ledgerBounds, type LedgerKind, type OptionTable, type ResolvedOptions } from '@x/core'
import type { StateStore } from '../state-codec.ts'
import { StateError } from '../state-error.ts'

/** Quotas of every owner in a store that several instances share. */
export interface OwnerQuotaOptions {
  /** How many values one owner may have. Default: 1000. */
  readonly maxEntriesPerOwner?: number | undefined
  /** How many characters one owner may have, keys included. Default: 8 Mi. */
  readonly maxCharactersPerOwner?: number | undefined
}

/** What an owner has, or may have. */
export interface StorageUsage {
  readonly entryCount: number
  readonly characterCount: number
}

/** A limit that a new value would exceed. */
export interface ReachedLimit {
  /** The option that sets it. */
  readonly name: 'maxEntries' | 'maxCharacters'
  readonly max: number
  readonly usageText: string
  /** The value is larger than the whole limit, so it can never be added. */
  readonly isTooLarge: boolean
}

const kindsByLimit = { maxEntries: 'states', maxCharacters: 'bytes' } as const satisfies Record<string, LedgerKind>

export const quotaOptionTable = {
  // limit: `maxEntriesPerOwner` of `redisStore`, `postgresStore` | count | values of one caller | quota
  maxEntriesPerOwner: ledgerBounds.states.perCaller,
  // limit: `maxCharactersPerOwner` of `redisStore`, `postgresStore` | characters | values of one caller together |
  //   quota
  maxCharactersPerOwner: 8 * 1024 * 1024,
} satisfies OptionTable<OwnerQuotaOptions>

export function ownerQuotaOf({
  maxEntriesPerOwner: entryCount,
  maxCharactersPerOwner: characterCount,
}: ResolvedOptions<OwnerQuotaOptions, typeof quotaOptionTable>): StorageUsage {
  return { entryCount, characterCount }
}

/** As a digest, an owner's name puts no subject and no address into the store. */
async function digestOwner(owner: string): Promise<string> {
  const bytes = new TextEncoder().encode(`x/state-codec owner ${owner}`)
  return encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}

export type SharedOperations = Required<Pick<StateStore, 'get' | 'delete' | 'expire'>>

/** `add` gets a digest of the owner, which is computed once, with the first value. */
export function createOwnerStore(
  owner: string,
  operations: SharedOperations,
  add: (ownerDigest: string, key: string, value: string, ttlMs: number) => Promise<boolean>,
): StateStore {
  let digest: Promise<string> | undefined
  return {
    ...operations,
    async add(key, value, ttlMs) {
      digest ??= digestOwner(owner)
      return add(await digest, key, value, ttlMs)
    },
  }
}

/** Undefined if the new value fits. */
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

export function ownerQuotaError(storeName: string, reachedLimit: ReachedLimit, soonestExpiryMs: number): StateError {
  const { name, max } = reachedLimit
  const { retryAfterMs, text } = describeLimit({ ...reachedLimit, name: `${name}PerOwner` }, soonestExpiryMs)
  const detail = `${storeName} has reached the limit of one owner ${text}`
  return new StateError('quota', detail, { retryAfterMs, quota: { limit: kindsByLimit[name], max } })
}

/**
 * A text for the log, and the milliseconds after which a new value may fit: until the first stored value expires, or
 * undefined if that is unknown, or if the value is larger than the limit.
 */
export function describeLimit(
  { name, max, usageText, isTooLarge }: Omit<ReachedLimit, 'name'> & { readonly name: string },
  msUntilExpiry: number,
): { readonly text: string; readonly retryAfterMs: number | undefined } {
  const retryAfterMs = !isTooLarge && Number.isFinite(msUntilExpiry) ? Math.max(1, Math.ceil(msUntilExpiry)) : undefined
  const advice = retryAfterMs === undefined ? 'raise the limit' : `try again in ${retryAfterMs} ms`
  return { text: `(${name}: it keeps ${usageText}; the limit is ${max}): ${advice}`, retryAfterMs }
}
