import { type Clock, type ErrorListener, errorListener } from '@x/core'
import type { ClientCapabilities, Icon, Implementation, JsonSchemaCompiler, Middleware, JsonObject } from '@x/schema'
import { toPrintableKey } from './client-error.ts'
import type { InputHandlers } from './input-handlers.ts'
import type { RoundOptions } from './round-options.ts'

/** A problem of a tool that its user should know. */
export interface ClientWarning {
  /** `tool_refused`: the tool is left out of the lists. `schema_refused`: its output cannot be checked. */
  readonly code: 'tool_refused' | 'schema_refused'
  readonly tool: string
  readonly reason: string
}

/** The options of a client, without its extensions. */
export interface CoreClientOptions extends InputHandlers {
  /** Middleware around every request, the first outermost: timing, logging, tracing. */
  readonly use?: readonly Middleware[] | undefined
  /** The name of the program, as servers see it. */
  readonly name: string
  readonly version: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly websiteUrl?: string | undefined
  readonly icons?: readonly Icon[] | undefined
  /** `false` omits the client's name and version from requests. */
  readonly sendClientInfo?: boolean | undefined
  /**
   * Capabilities sent with every request, beside those that follow from the handlers. A capability declared here
   * without a handler is answered through `client.manualRounds` alone.
   */
  readonly capabilities?: ClientCapabilities | undefined
  /** Options of the rounds in which servers ask for input. */
  readonly rounds?: RoundOptions | undefined
  /** The protocol revisions to speak, the preferred one first. Default: the revision of this package. */
  readonly versions?: readonly [string, ...string[]] | undefined
  /**
   * `false` requests every result from the server. Default: a cache of this client's own, which must then serve one
   * principal. None over a connection whose `headers` is a function, unless `sharedStore` names the partition of its
   * principal. Results that are cached are frozen.
   */
  readonly cache?: false | CacheOptions | undefined
  /** Milliseconds that a call waits for its response or the next progress. Default 60,000. */
  readonly timeoutMs?: number | undefined
  /** Milliseconds that a call waits, even with progress. Default ten times its `timeoutMs`. */
  readonly maxTotalMs?: number | undefined
  /**
   * Milliseconds from a failure during which a call is sent again: a call that did not reach the server or that the
   * server has not begun, and any other call where nothing is done twice. Default 10,000, at most `timeoutMs`. 0 for
   * never.
   */
  readonly maxResendMs?: number | undefined
  /** Pages that a list may have. Default 1000. */
  readonly maxPages?: number | undefined
  /** Characters of JSON that the pages of one list may have together. Default 16,777,216. */
  readonly maxListSize?: number | undefined
  /**
   * Receives tools that were left out or cannot be checked. A line of `console.error` when absent, `false` for none.
   */
  readonly onWarning?: ErrorListener<[warning: ClientWarning]>
  /**
   * Checks structured results against the tool's output schema. A tool that was not listed before is looked up once.
   * The schema and the result come from the server. `compileJsonSchema` bounds its work and runs no pattern of the
   * schema. Another compiler must bound its work too, and match patterns in linear time or not at all.
   */
  readonly outputSchemaCompiler?: JsonSchemaCompiler | undefined
  readonly runtime?: Clock | undefined
}

/** Returns the receiver of warnings: the author's, or one that writes lines. */
export function warningListenerOf({ onWarning }: CoreClientOptions): (warning: ClientWarning) => void {
  return errorListener(onWarning, '@x/client', describeTool)
}

function describeTool({ tool }: ClientWarning): string {
  return `tool ${toPrintableKey(tool)}`
}

/** Returns the client's name and version as requests carry them. */
export function clientInfoOf(options: CoreClientOptions): Implementation {
  const { name, version, title, description, websiteUrl, icons } = options
  return {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(icons !== undefined && { icons }),
  }
}

/** A result and the time until which it is fresh. */
export interface CacheEntry {
  readonly result: JsonObject
  /** On the client's clock, in milliseconds. */
  readonly freshUntil: number
}

/**
 * Stores results in this process. A key names the principal of a result, so that one store can serve several
 * principals.
 */
export interface CacheStore {
  get(key: string): CacheEntry | undefined
  set(key: string, entry: CacheEntry): void
  delete(key: string): void
  keys(): Iterable<string>
}

/** The bounds of a store. */
export interface CacheStoreOptions {
  /** Default 500. */
  readonly maxEntries?: number | undefined
  /** The length of all results as JSON, in characters. Default 16 million. */
  readonly maxLength?: number | undefined
}

/** Options of the cache. */
export interface CacheOptions extends CacheStoreOptions {
  /**
   * A store that several clients share. `partition` names the server and the principal of this client. Results never
   * cross from one partition to another, public ones included.
   */
  readonly sharedStore?: { readonly store: CacheStore; readonly partition: string } | undefined
}
