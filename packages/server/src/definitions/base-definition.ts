import type { CacheScope, ClientCapabilities, Icon, JsonObject, Call, Principal } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import type { RequestContext } from './context.ts'

/** The members that every definition may have. */
export interface BaseDefinition {
  /** The name that people see. The name itself is for programs. */
  readonly title?: string | undefined
  readonly icons?: readonly Icon[] | undefined
  /** The `_meta` of its entry in the list. */
  readonly meta?: JsonObject | undefined
  /** The client capabilities that it needs. A request that does not declare them is rejected with -32021. */
  readonly requires?: ClientCapabilities | undefined
  /**
   * Decides which callers may see and use it. Default: every caller. To all others it does not exist. Decide by the
   * principal, and by the request itself: lists must not vary by connection, nor by earlier requests (server/tools,
   * capabilities).
   */
  readonly visibleTo?: VisibleTo | undefined
}

/** For how long and by whom a result may be kept (server/utilities/caching). */
export interface CacheHints {
  /** Milliseconds, a whole number of at least 0. */
  readonly ttlMs?: number | undefined
  /** `public` only where every caller gets the same. */
  readonly scope?: CacheScope | undefined
}

/**
 * Suggests values for an argument that a user is typing, the best first. More than 100 are cut
 * (server/utilities/completion).
 */
export type Completer = (
  value: string,
  completionContext: CompletionContext,
) => Awaitable<readonly string[] | Completion>

/** The other arguments while a value is completed. */
export interface CompletionContext {
  /** The arguments that have values already, as far as the client sends them. */
  readonly arguments: { readonly [name: string]: string }
  readonly ctx: RequestContext
}

/** Suggestions that are a part of all matches. */
export interface Completion {
  readonly values: readonly string[]
  /** The number of all matches. */
  readonly total?: number | undefined
  /** True when there are more matches, where their number is unknown. */
  readonly hasMore?: boolean | undefined
}

/**
 * Decides whether a caller may know of a definition and use it. `undefined` is a caller without authentication. The
 * call's context has what middleware and extensions set, such as its session.
 */
export type VisibleTo = (principal: Principal | undefined, call: CallView) => boolean

/** The part of a call that handlers and `visibleTo` see: values of middleware and extensions, by typed keys. */
export type CallView = Pick<Call, 'context'>
