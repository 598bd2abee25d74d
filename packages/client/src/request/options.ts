import { type Clock, type Log, type OptionTable, platformRuntime, type ResolvedOptions } from '@x/core'
import type { Middleware } from '@x/exchange'
import {
  type ClientCapabilities,
  type Implementation,
  type JsonObject,
  type JsonSchemaCompiler,
  protocolVersion,
} from '@x/schema'
import type { InputHandlers } from './input-handlers.ts'

/** The options of a client, without its extensions. */
export interface CoreClientOptions extends InputHandlers {
  /** Middleware around every request, such as timing, logging or tracing. The first in the list is the outermost. */
  readonly use?: readonly Middleware[] | undefined
  /** The name of the program, which servers receive. */
  readonly name: string
  readonly version: string
  /** Further facts about the program in each request: its title, description, website and icons. */
  readonly clientInfo?: Omit<Implementation, 'name' | 'version'> | undefined
  /**
   * Capabilities sent with every request, in addition to those that follow from the handlers. If a capability declared
   * here has no handler, calls that need it must use `client.manualRounds`.
   */
  readonly capabilities?: ClientCapabilities | undefined
  /**
   * The partition of a store that caches the results of this client, or `false` for no cache. Default: a cache that
   * only this client uses. All results in a cache must be for the same principal. A connection whose `headers` is a
   * function may send requests of several principals, so its clients have no cache by default. Cached results are
   * frozen.
   */
  readonly cache?: false | CachePartition | undefined
  /**
   * Milliseconds that a request waits for its response or for the next progress notification. Default 60,000. With
   * progress notifications a request can take up to ten times as long.
   */
  readonly timeoutMs?: number | undefined
  /**
   * Milliseconds after a failure during which the client sends a request again, if no effect can happen twice. Default
   * 10,000. The maximum is `timeoutMs`. With 0, requests are never sent again.
   */
  readonly maxResendMs?: number | undefined
  /**
   * Receives warnings and errors for which no call rejects: tools that are omitted from lists (`tool_refused`),
   * unusable output schemas (`schema_refused`), and failures of `keepFresh`. Default: writes each as a line to the
   * standard error.
   */
  readonly log?: Log | undefined
  /**
   * Compiles the output schemas of tools, to check structured results. Default: results are not checked. Before the
   * call of an unknown tool, the list of tools is read once. Schemas and results come from the server. So a compiler
   * must bound its work, and match patterns in linear time or not at all. `compileJsonSchema` does this, and ignores
   * patterns.
   */
  readonly outputSchemaCompiler?: JsonSchemaCompiler | undefined
  /** The clock of time limits and of the cache. Default: the platform's. */
  readonly runtime?: Clock | undefined
}

export const coreClientOptionTable = {
  elicit: undefined,
  openUrl: undefined,
  sample: undefined,
  roots: undefined,
  use: { default: [] },
  name: undefined,
  version: undefined,
  clientInfo: undefined,
  capabilities: undefined,
  cache: undefined,
  // limit: `timeoutMs` of `createClient` | ms | a call without progress | the call is rejected
  timeoutMs: { default: 60_000, min: 0, isWhole: false },
  // A restart of a server or of its store takes less time.
  // limit: `maxResendMs` of `createClient` | ms | repetitions after a failure | the call is rejected
  maxResendMs: { default: 10_000, min: 0, isWhole: false },
  log: undefined,
  outputSchemaCompiler: undefined,
  runtime: { default: platformRuntime },
} satisfies OptionTable<CoreClientOptions>

/** The options of a client with their defaults. */
export type CoreClientSettings = ResolvedOptions<CoreClientOptions, typeof coreClientOptionTable>

/** The values of a client that are no options. */
export interface ClientConstants {
  readonly versions: readonly [string, ...string[]]
  readonly maxPages: number
  readonly maxListSize: number
}

const clientConstants: ClientConstants = {
  /** The protocol revisions that this package implements, the preferred one first. */
  versions: [protocolVersion],
  /** The maximum number of pages of one list. A list with more pages is considered endless. */
  // limit: pages of a list | count | pages of a list | the list is rejected
  maxPages: 1000,
  /**
   * The maximum number of JSON characters in all pages of one list, except for the first page. It equals the maximum
   * number of bytes in one message over HTTP.
   */
  // limit: list size | characters | all pages of a list | the list is rejected
  maxListSize: 16_777_216,
}

const constantsKey = Symbol('constants')

/** Returns a member for the options of `createClient` that replaces constants, for the tests of this package. */
export function withClientConstants(constants: Partial<ClientConstants>): object {
  return { [constantsKey]: { ...clientConstants, ...constants } }
}

/** Returns the constants of a client with these options. */
export function clientConstantsOf(options: object): ClientConstants {
  // Only `withClientConstants` can set this member.
  return (Reflect.get(options, constantsKey) as ClientConstants | undefined) ?? clientConstants
}

/** Returns the facts about the program that each request contains. */
export function clientInfoOf({ name, version, clientInfo }: CoreClientOptions): Implementation {
  return { name, version, ...clientInfo }
}

/** A result and the time until which it is fresh. */
export interface CacheEntry {
  readonly result: JsonObject
  /** The end of the freshness, in milliseconds of the client's monotonic clock. */
  readonly freshUntil: number
}

/** The results of a {@link CacheStore}, by keys that begin with the name of their partition. */
export interface CacheEntries {
  get(key: string): CacheEntry | undefined
  set(key: string, entry: CacheEntry): void
  delete(key: string): void
  keys(): Iterable<string>
}

/** A store in the memory of this process, which several clients can share. */
export interface CacheStore {
  /**
   * Returns the partition of this name, for the option `cache` of a client. The name must identify the server and the
   * principal of the client, because every client that uses the partition can read the results in it.
   */
  partition(name: string): CachePartition
}

/** A part of a {@link CacheStore}. Clients of one partition never get results of another, not even public results. */
export interface CachePartition extends CacheStore {
  readonly name: string
  readonly entries: CacheEntries
}

/** The bounds of a store. */
export interface CacheStoreOptions {
  /** The maximum number of results. Default 500. */
  readonly maxEntries?: number | undefined
  /** The maximum number of characters of all results and their keys, as JSON. Default 16 million. */
  readonly maxLength?: number | undefined
}
