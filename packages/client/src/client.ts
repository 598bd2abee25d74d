import type { AsyncResource } from '@x/exchange'
import type { CompleteRequestParams, CompleteResult, DiscoverResult, Implementation } from '@x/schema'
import type { ClientCache } from './caching/cache.ts'
import type { CallOptions, ReadOptions } from './request/call-options.ts'
import type { ExtensionRequest } from './request/request.ts'
import type { MultiRoundCalls } from './rounds/multi-round-calls.ts'
import type { SubscriptionCalls } from './subscriptions/keep-fresh.ts'
import type { TypedCalls } from './rounds/typed-calls.ts'
import type { ListCalls } from './tools/offered-lists.ts'

/** Options of a completion. */
export interface CompletionOptions extends CallOptions {
  /**
   * The values of the other arguments of the prompt, or of the other variables of the template, that the user has
   * already entered.
   */
  readonly arguments?: Readonly<Record<string, string>> | undefined
}

/**
 * Typed calls to one server. A call rejects with `ClientError`, with `signal.reason` if it was cancelled, or unchanged
 * with the error that a function of yours threw (a handler, `onProgress`, `onLog`, `onNotification`). Lists can be read
 * item by item (`eachTool`) or as a whole (`listTools`). `Types` are the types of the server's tools and prompts, if
 * they are known.
 */
export interface Client<Types = unknown>
  extends TypedCalls<Types>,
    MultiRoundCalls,
    ListCalls,
    SubscriptionCalls,
    AsyncResource {
  /**
   * The revisions, capabilities and instructions of the server (server/discover). Other calls work without an earlier
   * `discover`.
   */
  discover(options?: ReadOptions): Promise<DiscoverResult>
  /** Returns suggestions for an argument that a user is typing (server/utilities/completion). */
  complete(
    ref: CompleteRequestParams['ref'],
    argument: CompleteRequestParams['argument'],
    options?: CompletionOptions,
  ): Promise<CompleteResult>
  /** Calls any method, such as a method of an extension. The result is not checked, and never comes from the cache. */
  readonly request: ExtensionRequest
  /** The cache of the client's results. */
  readonly cache: ClientCache
  /**
   * The name and version in the last response of the server, unverified and for display only. Undefined before the
   * first response (basic/index, `_meta`).
   */
  readonly serverInfo: Pick<Implementation, 'name' | 'version'> | undefined
  /**
   * Closes the resources of extensions and the connection of the client. If several clients share the connection, close
   * the connection itself instead. A server in this process is not closed.
   */
  close(): Promise<void>
}
