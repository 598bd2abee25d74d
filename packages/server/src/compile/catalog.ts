import { encodeBase64url, requireSync } from '@x/core'
import type { Call } from '@x/exchange'
import {
  type ClientCapabilities,
  type JsonObject,
  type HeaderParam,
  type ServerCapabilities,
  errorCodes,
  McpError,
  prepareResult,
} from '@x/schema'
import type { CacheHints, Completer, VisibleTo } from '../definitions/base-definition.ts'
import type { AnyPromptDefinition } from '../definitions/prompt.ts'
import type { AnyTemplateDefinition, ResourceDefinition } from '../definitions/resource.ts'
import type { CompiledSchema } from '../json-schema/compile-schema.ts'
import type { AnyToolDefinition } from '../definitions/tool.ts'
import type { UriTemplate } from '../definitions/uri-template.ts'

/** Everything that a server derives from its definitions. It never changes; an `update` creates another one. */
export interface Catalog {
  readonly capabilities: ServerCapabilities
  /** The server adds these `_meta` members to every result. */
  readonly resultMeta: JsonObject
  readonly discoverResult: JsonObject
  readonly tools: Listing<CompiledTool>
  readonly prompts: Listing<CompiledPrompt>
  readonly resources: Listing<CompiledResource>
  readonly templates: Listing<CompiledTemplate>
}

/** Members that all compiled definitions share. */
export interface CompiledDefinition {
  readonly key: string
  readonly wireEntry: JsonObject
  readonly visibleTo: VisibleTo | undefined
  readonly requires: ClientCapabilities | undefined
}

/** A tool, ready to be called. */
export interface CompiledTool extends CompiledDefinition {
  readonly checkInput: CompiledSchema['check']
  readonly checkOutput: CompiledSchema['check'] | undefined
  /** Arguments that a client repeats in HTTP headers. */
  readonly headerParams: readonly HeaderParam[]
  /** The arguments' schema as clients see it. */
  readonly inputSchema: JsonObject
  readonly definition: AnyToolDefinition
}

/** A prompt, ready to be filled in. */
export interface CompiledPrompt extends CompiledDefinition {
  readonly checkArguments: CompiledSchema['check']
  readonly requiredArguments: readonly string[]
  /** A completer for each argument, by name. Undefined for an argument without one. */
  readonly completers: ReadonlyMap<string, Completer | undefined>
  readonly definition: AnyPromptDefinition
}

/** A resource, ready to be read. */
export interface CompiledResource extends CompiledDefinition {
  readonly cacheHints: CompiledCacheHints
  readonly definition: ResourceDefinition
}

/** A template, ready to be matched. */
export interface CompiledTemplate extends CompiledDefinition {
  readonly cacheHints: CompiledCacheHints
  readonly template: UriTemplate
  /** A completer for each variable, by name. Undefined for a variable without one. */
  readonly completers: ReadonlyMap<string, Completer | undefined>
  readonly definition: AnyTemplateDefinition
}

/**
 * Caching hints, with defaults for those that the author did not give. The result of a `resources/read` may override
 * them.
 */
export type CompiledCacheHints = { readonly [Name in keyof CacheHints]-?: NonNullable<CacheHints[Name]> }

/** Joins the author's `_meta` with the server's name and version (basic/index, `_meta`). */
export function mergeResultMeta(ownMeta: JsonObject | undefined, { resultMeta }: Catalog): JsonObject {
  return ownMeta === undefined ? resultMeta : { ...ownMeta, ...resultMeta }
}

/** The parts of a call that identify its caller. */
export type Caller = Pick<Call, 'principal' | 'context'>

/** The field of a list's result that contains the entries. */
export type ListField = 'tools' | 'prompts' | 'resources' | 'resourceTemplates'

/** All definitions of one kind, with the data of their list. */
export interface Listing<Entry extends CompiledDefinition> {
  readonly byKey: ReadonlyMap<string, Entry>
  readonly options: CompiledCacheHints & {
    readonly field: ListField
    readonly pageSize: number
    readonly meta: JsonObject
  }
  /** A client requests the entries after a given entry with its cursor. */
  readonly cursors: ReadonlyMap<CompiledDefinition, string>
  /** Finished pages, each by the cursor that requests it. Undefined if pages differ by caller. */
  readonly sharedPages: ReadonlyMap<string | undefined, JsonObject> | undefined
}

/**
 * Finishes all pages up front if every caller sees the same entries. Entries keep the order of the definitions
 * (server/tools, listing tools).
 */
export function createListing<Entry extends CompiledDefinition>(
  entries: readonly Entry[],
  options: Listing<Entry>['options'],
): Listing<Entry> {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]))
  const cursors = new Map(entries.map((entry) => [entry, encodeCursor(options.field, entry.key)]))
  const isSameForAll = entries.every((entry) => entry.visibleTo === undefined)
  const listing = { byKey, options, cursors, sharedPages: undefined }
  return isSameForAll ? { ...listing, sharedPages: createFixedPages(entries, listing) } : listing
}

/**
 * Makes the cursor for the entries after a given entry. Cursors are never decoded, only compared with those of the
 * entries that the caller may see, so a forged, outdated or foreign one matches nothing.
 */
export function encodeCursor(field: ListField, key: string): string {
  return encodeBase64url(new TextEncoder().encode(JSON.stringify([field, key])))
}

/** Finds a definition by name or URI. Undefined if it does not exist or the caller may not see it. */
export function findVisibleEntry<Entry extends CompiledDefinition>(
  listing: Listing<Entry>,
  key: string,
  caller: Caller,
): Entry | undefined {
  const entry = listing.byKey.get(key)
  return entry === undefined || isVisible(entry, caller) ? entry : undefined
}

export function isVisible({ visibleTo }: Pick<CompiledDefinition, 'visibleTo'>, caller: Caller): boolean {
  return visibleTo === undefined || requireSync('visibleTo', visibleTo(caller.principal, caller))
}

/** One page of a list for a caller. Throws `McpError(invalidParams)` for a cursor that does not belong to this list. */
export function readPage(listing: Listing<CompiledDefinition>, cursor: string | undefined, caller: Caller): JsonObject {
  if (listing.sharedPages !== undefined) return listing.sharedPages.get(cursor) ?? rejectCursor()
  const visibleEntries = [...listing.byKey.values()].filter((entry) => isVisible(entry, caller))
  const startIndex =
    cursor === undefined ? 0 : visibleEntries.findIndex((entry) => listing.cursors.get(entry) === cursor) + 1
  if (cursor !== undefined && startIndex === 0) return rejectCursor()
  return buildPage(visibleEntries, startIndex, listing)
}

function rejectCursor(): never {
  const advice = 'list again without a cursor'
  throw new McpError(errorCodes.invalidParams, `Invalid params: params.cursor is not a cursor of this list; ${advice}`)
}

function createFixedPages(
  entries: readonly CompiledDefinition[],
  listing: Listing<CompiledDefinition>,
): ReadonlyMap<string | undefined, JsonObject> {
  const pages = new Map<string | undefined, JsonObject>()
  let startIndex = 0
  let cursor: string | undefined
  do {
    pages.set(cursor, prepareResult(buildPage(entries, startIndex, listing)))
    startIndex += listing.options.pageSize
    const lastEntry = entries[startIndex - 1]
    cursor = lastEntry && listing.cursors.get(lastEntry)
  } while (startIndex < entries.length)
  return pages
}

function buildPage(
  entries: readonly CompiledDefinition[],
  startIndex: number,
  { cursors, options }: Listing<CompiledDefinition>,
): JsonObject {
  const { field, pageSize, ttlMs, scope, meta } = options
  const endIndex = startIndex + pageSize
  const lastEntry = endIndex < entries.length ? entries[endIndex - 1] : undefined
  return Object.freeze({
    resultType: 'complete',
    [field]: Object.freeze(entries.slice(startIndex, endIndex).map(({ wireEntry }) => wireEntry)),
    ...(lastEntry && { nextCursor: cursors.get(lastEntry) }),
    ttlMs,
    cacheScope: scope,
    _meta: meta,
  })
}
