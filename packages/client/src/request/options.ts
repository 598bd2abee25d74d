import {
  type Clock,
  type Log,
  type OptionTable,
  type OptionType,
  optionTypes,
  platformRuntime,
  type ResolvedOptions,
} from '@x/core'
import type { Middleware } from '@x/exchange'
import {
  type ClientCapabilities,
  type Implementation,
  type JsonObject,
  type JsonSchemaCompiler,
  protocolVersion,
} from '@x/schema'
import type { InputHandlers } from './input-handlers.ts'

/** Options of a client, without its extensions. */
export interface CoreClientOptions extends InputHandlers {
  /** Middleware around every request, such as timing, logging or tracing. The first is the outermost. */
  readonly use?: readonly Middleware[] | undefined
  /** Your program's name, as servers receive it. */
  readonly name: string
  readonly version: string
  /** More about the program, in each request: its title, description, website and icons. */
  readonly clientInfo?: Omit<Implementation, 'name' | 'version'> | undefined
  /**
   * Sent with every request, in addition to what the handlers imply. Declare one here without a handler only if you
   * make the calls that need it through `client.manualRounds`.
   */
  readonly capabilities?: ClientCapabilities | undefined
  /**
   * Partition of a store for this client's results, or `false` for no cache. Default: a cache of this client alone. All
   * results in a cache must be for the same principal; if the connection's `headers` is a function it may send for
   * several, so its clients have no cache by default. Cached results are frozen.
   */
  readonly cache?: false | CachePartition | undefined
  /**
   * Milliseconds that a request waits for its response or the next progress notification. Default 60,000. With
   * progress, a request can take up to ten times as long.
   */
  readonly timeoutMs?: number | undefined
  /**
   * Milliseconds after a failure during which the client sends a request again, if no effect can happen twice. Default
   * 10,000, at most `timeoutMs`. With 0, requests are never sent again.
   */
  readonly maxResendMs?: number | undefined
  /**
   * Receives warnings and errors for which no call rejects: what is omitted from lists (`item_refused` if it is not of
   * its type, `tool_refused` for invalid `x-mcp-header` annotations), unusable output schemas (`schema_refused`), and
   * failures of `keepFresh`. Default: a line each on standard error.
   */
  readonly log?: Log | undefined
  /**
   * Compiles the output schemas of tools, to check structured results. Default: no check. Before an unknown tool is
   * called, the list of tools is read once. Schemas and results come from the server, so a compiler must bound its
   * work, and match patterns in linear time or not at all. `compileJsonSchema` does, and ignores patterns.
   */
  readonly outputSchemaCompiler?: JsonSchemaCompiler | undefined
  /** Clock of time limits and the cache. Default: the platform's. */
  readonly runtime?: Clock | undefined
}

const functions: OptionType = {
  name: 'an array of functions',
  accepts: (value) => Array.isArray(value) && value.every(optionTypes.function.accepts),
}
const cacheType: OptionType = {
  name: "false, or a partition, such as createCacheStore().partition('ada')",
  accepts: (value) => value === false || (typeof value === 'object' && value !== null && 'entries' in value),
}

export const coreClientOptionTable = {
  elicit: { type: optionTypes.function },
  openUrl: { type: optionTypes.function },
  sample: { type: optionTypes.function },
  roots: { type: optionTypes.function },
  use: { default: [], type: functions },
  name: { type: optionTypes.string },
  version: { type: optionTypes.string },
  clientInfo: { type: optionTypes.object },
  capabilities: { type: optionTypes.object },
  cache: { type: cacheType },
  // limit: `timeoutMs` of `createClient` | ms | a call without progress | the call is rejected
  timeoutMs: { default: 60_000, min: 0, isWhole: false },
  // Long enough for most restarts of a server or of its store.
  // limit: `maxResendMs` of `createClient` | ms | repetitions after a failure | the call is rejected
  maxResendMs: { default: 10_000, min: 0, isWhole: false },
  log: { type: optionTypes.function },
  outputSchemaCompiler: { type: optionTypes.function },
  runtime: { default: platformRuntime, type: optionTypes.object },
} satisfies OptionTable<CoreClientOptions>

/** A client's options with their defaults. */
export type CoreClientSettings = ResolvedOptions<CoreClientOptions, typeof coreClientOptionTable>

/** Values of a client that are no options. */
export interface ClientConstants {
  readonly versions: readonly [string, ...string[]]
  readonly maxPages: number
  readonly maxListSize: number
}

const clientConstants: ClientConstants = {
  /** Protocol revisions that this package implements, the preferred one first. */
  versions: [protocolVersion],
  /** Pages in one list, beyond which it is considered endless. */
  // limit: pages of a list | count | pages of a list | the list is rejected
  maxPages: 1000,
  /** JSON characters in all pages of one list but the first. As many as bytes in one message over HTTP. */
  // limit: list size | characters | all pages of a list | the list is rejected
  maxListSize: 16_777_216,
}

const constantsKey = Symbol('constants')

/** Lets tests of this package replace constants, through the options of `createClient`. */
export function withClientConstants(constants: Partial<ClientConstants>): object {
  return { [constantsKey]: { ...clientConstants, ...constants } }
}

export function clientConstantsOf(options: object): ClientConstants {
  // Only `withClientConstants` can set this member.
  return (Reflect.get(options, constantsKey) as ClientConstants | undefined) ?? clientConstants
}

/** What each request says about the program. */
export function clientInfoOf({ name, version, clientInfo }: CoreClientOptions): Implementation {
  return { name, version, ...clientInfo }
}

/** A result, and until when it is fresh. */
export interface CacheEntry {
  readonly result: JsonObject
  /** End of freshness, in milliseconds of the client's monotonic clock. */
  readonly freshUntil: number
}

/** Results of a {@link CacheStore}, by keys that begin with the name of their partition. */
export interface CacheEntries {
  get(key: string): CacheEntry | undefined
  set(key: string, entry: CacheEntry): void
  delete(key: string): void
  keys(): Iterable<string>
}

/** A store in this process's memory, which several clients can share. */
export interface CacheStore {
  /**
   * The partition of this name, for a client's option `cache`. Every client of a partition can read all of it, so the
   * name must identify the server and the principal.
   */
  partition(name: string): CachePartition
}

/** Part of a {@link CacheStore}. Clients of one partition never get results of another, not even public results. */
export interface CachePartition extends CacheStore {
  readonly name: string
  readonly entries: CacheEntries
}

/** How much a store may hold. Beyond it, the least recently used results go. */
export interface CacheStoreOptions {
  /** Maximum number of results. Default 500. */
  readonly maxEntries?: number | undefined
  /** Maximum number of characters of all results and their keys, as JSON. Default 16 million. */
  readonly maxLength?: number | undefined
}
