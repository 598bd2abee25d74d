import type { Clock, Log } from '@x/core'
import {
  type ClientCapabilities,
  type Implementation,
  type JsonObject,
  type JsonSchemaCompiler,
  type Middleware,
  protocolVersion,
} from '@x/schema'
import type { InputHandlers } from './input-handlers.ts'

/** The options of a client, without its extensions. */
export interface CoreClientOptions extends InputHandlers {
  /** Middleware around every request, the first outermost: timing, logging, tracing. */
  readonly use?: readonly Middleware[] | undefined
  /** The name of the program, as servers see it. */
  readonly name: string
  readonly version: string
  /** Further facts about the program that each request carries: its title, description, website and icons. */
  readonly clientInfo?: Omit<Implementation, 'name' | 'version'> | undefined
  /**
   * Capabilities sent with every request, in addition to those that follow from the handlers. A server's question that
   * needs a capability declared here, and has no handler, is answered through `client.manualRounds`.
   */
  readonly capabilities?: ClientCapabilities | undefined
  /**
   * The partition of a store that caches the results of this client, or `false` for no cache. Default: a cache of this
   * client alone, whose results must all be of one principal. A connection whose `headers` is a function may send
   * requests of several principals, so that its client has no cache by default. Cached results are frozen.
   */
  readonly cache?: false | CachePartition | undefined
  /**
   * Milliseconds that a request waits for its response or for the next progress notification. Default 60,000. With
   * progress a request can take ten times as long.
   */
  readonly timeoutMs?: number | undefined
  /**
   * Milliseconds after a failure during which the client sends a request again, if no effect can happen twice. Default
   * 10,000, at most `timeoutMs`. With 0 no request is sent again.
   */
  readonly maxResendMs?: number | undefined
  /**
   * Receives the warnings and errors that no call rejects with: a tool that is left out of lists (`tool_refused`), an
   * output schema that cannot be used (`schema_refused`), and failures of `keepFresh`. Default: a line of the standard
   * error for each.
   */
  readonly log?: Log | undefined
  /**
   * Compiles the output schemas of tools, to check structured results. A tool that was not listed before is looked up
   * once. Schemas and results come from the server. `compileJsonSchema` bounds its work and runs no pattern of the
   * schema. Another compiler must bound its work too, and match patterns in linear time or not at all.
   */
  readonly outputSchemaCompiler?: JsonSchemaCompiler | undefined
  /** The clock of time limits and of the cache. Default: the platform's. */
  readonly runtime?: Clock | undefined
}

export const clientDefaults = {
  timeoutMs: 60_000,
  // Long enough for the restart of a server or of its store.
  maxResendMs: 10_000,
} satisfies Partial<CoreClientOptions>

/** The values of a client that are no options. Tests of this package replace them. */
export interface ClientConstants {
  readonly versions: readonly [string, ...string[]]
  readonly maxPages: number
  readonly maxListSize: number
}

export const clientConstants: ClientConstants = {
  /** The protocol revisions that this package implements, the preferred one first. */
  versions: [protocolVersion],
  /** Pages of one list. A server with more tools than 1000 pages hold is a server whose list does not end. */
  maxPages: 1000,
  /** Characters of JSON of one list's pages after the first: as many as the bytes of one message over HTTP. */
  maxListSize: 16_777_216,
}

/** Returns the facts about the client that each request carries. */
export function clientInfoOf({ name, version, clientInfo }: CoreClientOptions): Implementation {
  return { name, version, ...clientInfo }
}

/** A result and the time until which it is fresh. */
export interface CacheEntry {
  readonly result: JsonObject
  /** The monotonic time of the client's clock, in milliseconds. */
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
   * principal of the client, because every client with this partition reads its results.
   */
  partition(name: string): CachePartition
}

/** A part of a {@link CacheStore}. Results never cross from one partition to another, public results included. */
export interface CachePartition extends CacheStore {
  readonly name: string
  readonly entries: CacheEntries
}

/** The bounds of a store. */
export interface CacheStoreOptions {
  /** The number of results. Default 500. */
  readonly maxEntries?: number | undefined
  /** Characters of all results and their keys, as JSON. Default 16 million. */
  readonly maxLength?: number | undefined
}
