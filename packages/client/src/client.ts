import type { AsyncResource } from '@x/exchange'
import type { CompleteRequestParams, CompleteResult, DiscoverResult, Implementation } from '@x/schema'
import type { ClientCache } from './caching/cache.ts'
import type { CallOptions, ReadOptions } from './request/call-options.ts'
import type { ExtensionRequest } from './request/request.ts'
import type { MultiRoundCalls } from './rounds/multi-round-calls.ts'
import type { SubscriptionCalls } from './subscriptions/keep-fresh.ts'
import type { TypedCalls } from './rounds/typed-calls.ts'
import type { ListCalls } from './tools/offered-lists.ts'

/** Options of `client.complete`. */
export interface CompletionOptions extends CallOptions {
  /** What the user has already entered for the prompt's other arguments, or the template's other variables. */
  readonly arguments?: Readonly<Record<string, string>> | undefined
}

/**
 * Typed calls to one server. A call rejects with `ClientError`, with `signal.reason` if it was cancelled, or with what
 * a function of yours threw (a handler, `onProgress`, `onLog`, `onNotification`). Read a list item by item (`eachTool`)
 * or as a whole (`listTools`). `Types` are the types of the server's tools and prompts, if they are known.
 */
export interface Client<Types = unknown>
  extends TypedCalls<Types>,
    MultiRoundCalls,
    ListCalls,
    SubscriptionCalls,
    AsyncResource {
  /** Asks for the server's revisions, capabilities and instructions (server/discover). You need not call it first. */
  discover(options?: ReadOptions): Promise<DiscoverResult>
  /** Suggests values for an argument that a user is typing (server/utilities/completion). */
  complete(
    ref: CompleteRequestParams['ref'],
    argument: CompleteRequestParams['argument'],
    options?: CompletionOptions,
  ): Promise<CompleteResult>
  /** Calls any method, such as one of an extension. Its result is not checked, and never comes from the cache. */
  readonly request: ExtensionRequest
  /** What the client has cached, with its counts of hits and misses. */
  readonly cache: ClientCache
  /**
   * Name and version in the server's last response, unverified and for display only. Undefined before the first
   * response (basic/index, `_meta`).
   */
  readonly serverInfo: Pick<Implementation, 'name' | 'version'> | undefined
  /**
   * Closes what the extensions opened, and the client's connection. If several clients share the connection, close that
   * instead. A server in this process stays open.
   */
  close(): Promise<void>
}
