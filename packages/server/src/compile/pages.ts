import {
  type CacheScope,
  type Call,
  errorCodes,
  type JsonObject,
  McpError,
  type Principal,
  preparedMessage,
} from '@x/schema'
import { encodeBase64Url } from './base64.ts'

/**
 * Decides whether a caller may know of a definition and use it; `undefined` is a caller whom nobody authenticated. The
 * call's context has what middleware and extensions set, such as its session.
 */
export type VisibleTo = (principal: Principal | undefined, call: CallView) => boolean

/** The part of a call that handlers and `visibleTo` see: values of middleware and extensions, by typed keys. */
export type CallView = Pick<Call, 'context'>

/** The caller of a request. */
export type Caller = Pick<Call, 'principal' | 'context'>

/** The part of a definition that lists need. */
export interface Listed {
  /** Its name or URI, by which it is found. */
  readonly key: string
  /** Its entry in the list. */
  readonly wire: JsonObject
  readonly visibleTo: VisibleTo | undefined
}

/** The field of a list's result that holds its entries. */
export type ListField = 'tools' | 'prompts' | 'resources' | 'resourceTemplates'

/** The options that all results of a list share. */
export interface ListOptions {
  readonly field: ListField
  readonly pageSize: number
  readonly ttlMs: number
  readonly scope: CacheScope
  /** The `_meta` of every result. */
  readonly meta: JsonObject | undefined
}

/** One kind of definitions: by key, in order, and as finished pages where every caller sees the same. */
export interface Listing<Entry extends Listed> {
  readonly byKey: ReadonlyMap<string, Entry>
  readonly options: ListOptions
  /** The cursor that stands after an entry. */
  readonly cursors: ReadonlyMap<Listed, string>
  /** Results by the cursor that asks for them; undefined when they differ by caller. */
  readonly fixed: ReadonlyMap<string | undefined, JsonObject> | undefined
}

/** Makes the pages of a list, once. The order is that of the definitions (server/tools, listing tools). */
export function createListing<Entry extends Listed>(entries: readonly Entry[], options: ListOptions): Listing<Entry> {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]))
  const cursors = new Map(entries.map((entry) => [entry, encodeCursor(options.field, entry.key)]))
  const sameForAll = entries.every((entry) => entry.visibleTo === undefined)
  const listing = { byKey, options, cursors, fixed: undefined }
  return sameForAll ? { ...listing, fixed: fixedPages(entries, listing) } : listing
}

/**
 * The cursor after an entry. It is never decoded: one that comes back is compared with those of the entries that the
 * caller may see, so that a forged, stale or foreign one is simply none of them.
 */
export function encodeCursor(field: ListField, key: string): string {
  return encodeBase64Url(JSON.stringify([field, key]))
}

/** The definition of this name, if the caller may know of it. */
export function findVisible<Entry extends Listed>(
  listing: Listing<Entry>,
  key: string,
  caller: Caller,
): Entry | undefined {
  const entry = listing.byKey.get(key)
  return entry === undefined || isVisible(entry, caller) ? entry : undefined
}

/** Returns whether a caller may see a definition. */
export function isVisible({ visibleTo }: Pick<Listed, 'visibleTo'>, caller: Caller): boolean {
  return visibleTo === undefined || visibleTo(caller.principal, caller)
}

/** One page of a list, for a caller. Throws McpError(invalidParams) for a cursor that is not one of this list. */
export function readPage(listing: Listing<Listed>, cursor: string | undefined, caller: Caller): JsonObject {
  if (listing.fixed !== undefined) return listing.fixed.get(cursor) ?? rejectCursor()
  const visible = [...listing.byKey.values()].filter((entry) => isVisible(entry, caller))
  const start = cursor === undefined ? 0 : visible.findIndex((entry) => listing.cursors.get(entry) === cursor) + 1
  if (cursor !== undefined && start === 0) return rejectCursor()
  return page(visible, start, listing)
}

function rejectCursor(): never {
  const advice = 'list again without a cursor'
  throw new McpError(errorCodes.invalidParams, `Invalid params: params.cursor is not a cursor of this list; ${advice}`)
}

function fixedPages(entries: readonly Listed[], listing: Listing<Listed>): ReadonlyMap<string | undefined, JsonObject> {
  const pages = new Map<string | undefined, JsonObject>()
  let start = 0
  let cursor: string | undefined
  do {
    pages.set(cursor, preparedMessage(page(entries, start, listing)))
    start += listing.options.pageSize
    const last = entries[start - 1]
    cursor = last && listing.cursors.get(last)
  } while (start < entries.length)
  return pages
}

function page(entries: readonly Listed[], start: number, { cursors, options }: Listing<Listed>): JsonObject {
  const { field, pageSize, ttlMs, scope, meta } = options
  const end = start + pageSize
  const last = end < entries.length ? entries[end - 1] : undefined
  return Object.freeze({
    resultType: 'complete',
    [field]: Object.freeze(entries.slice(start, end).map(({ wire }) => wire)),
    ...(last && { nextCursor: cursors.get(last) }),
    ttlMs,
    cacheScope: scope,
    ...(meta && { _meta: meta }),
  })
}
