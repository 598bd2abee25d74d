import type { CacheScope, ClientCapabilities, Icon, JsonObject } from '@x/schema'
import type { Awaitable } from './request/awaitable.ts'
import type { RequestContext } from './request/context.ts'
import type { VisibleTo } from './pages.ts'

/** What every definition may say of itself. */
export interface Described {
  /** What people see; the name is for programs. */
  readonly title?: string | undefined
  readonly icons?: readonly Icon[] | undefined
  /** The `_meta` of its entry in the list. */
  readonly meta?: JsonObject | undefined
  /** What the client must be able to do; a request that does not declare it is refused with -32021. */
  readonly requires?: ClientCapabilities | undefined
  /**
   * Who may see and use it; everybody, when absent. To all others it does not exist. Decide by the principal, and by what the
   * request itself says: lists must not vary by connection, nor by earlier requests (server/tools, capabilities).
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
 * Suggests values for an argument that a user is typing, the best first. More than 100 are cut (server/utilities/completion).
 */
export type Completer = (value: string, known: KnownArguments) => Awaitable<readonly string[] | Completion>

/** What is known while a value is completed. */
export interface KnownArguments {
  /** The arguments that have values already, as far as the client sends them. */
  readonly arguments: { readonly [name: string]: string }
  readonly ctx: RequestContext
}

/** Suggestions that are a part of all there are. */
export interface Completion {
  readonly values: readonly string[]
  /** How many there are in all. */
  readonly total?: number | undefined
  /** Whether there are more, where nobody counted. */
  readonly hasMore?: boolean | undefined
}
