import type { Call, Principal } from '@x/exchange'
import type { CacheScope, ClientCapabilities, Icon, JsonObject } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import type { RequestContext } from './context.ts'

/** Members that every definition may have. */
export interface BaseDefinition {
  /** People see this name; `name` is for programs. */
  readonly title?: string | undefined
  readonly icons?: readonly Icon[] | undefined
  /** `_meta` of the definition's entry in the list. */
  readonly meta?: JsonObject | undefined
  /** Capabilities that the client needs. A request that does not declare them is rejected with -32021. */
  readonly requires?: ClientCapabilities | undefined
  /**
   * Identifies the extension without which the server cannot serve the definition. `createServer` throws a
   * {@link DefinitionError} if its list has no such extension.
   */
  readonly needsExtension?: string | undefined
  /**
   * Decides which callers may see and use the definition; for others it does not exist. Default: every caller. The
   * decision may depend on the principal and on the request itself, but not on the connection or on earlier requests
   * (server/tools, capabilities).
   */
  readonly visibleTo?: VisibleTo | undefined
}

/** How long clients may cache a result, and which caches may store it (server/utilities/caching). */
export interface CacheHints {
  /** Milliseconds, a whole number of at least 0. */
  readonly ttlMs?: number | undefined
  /** `public` allows shared caches, and requires that every caller gets the same result. */
  readonly scope?: CacheScope | undefined
}

/**
 * Suggests values for an argument that a user is typing, the best first. At most 100 values are sent
 * (server/utilities/completion).
 */
export type Completer = (
  value: string,
  completionContext: CompletionContext,
) => Awaitable<readonly string[] | Completion>

/** The other arguments of a completion, and its request. */
export interface CompletionContext {
  /** Arguments that already have values, if the client sends them. */
  readonly arguments: { readonly [name: string]: string }
  readonly ctx: RequestContext
}

/** Suggestions that are only some of all matching values. */
export interface Completion {
  readonly values: readonly string[]
  /** The number of all matching values. */
  readonly total?: number | undefined
  /** True if more values match, for completers that do not know how many. */
  readonly hasMore?: boolean | undefined
}

/**
 * Decides whether a caller may know of a definition and use it. `undefined` is a caller without authentication. The
 * call's context contains what middleware and extensions set, such as the session.
 *
 * It is synchronous, because one list calls it for every definition of the server, and all answers of a list must
 * belong to one moment. If you need a database, read it before: in `toPrincipal` of `protect`, or in middleware.
 */
export type VisibleTo = (principal: Principal | undefined, call: CallView) => boolean

/** The part of a call that handlers and `visibleTo` see: values of middleware and extensions, by typed keys. */
export type CallView = Pick<Call, 'context'>
