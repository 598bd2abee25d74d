import type {
  AsyncResource,
  CompleteRequestParams,
  CompleteResult,
  DiscoverResult,
  Implementation,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
} from '@x/schema'
import type { ClientCache } from './caching/cache.ts'
import type { CallOptions, ReadOptions } from './request/call-options.ts'
import type { ExtensionRequest } from './request/request.ts'
import type { MultiRoundCalls } from './rounds/multi-round-calls.ts'
import type { SubscriptionCalls } from './subscriptions/keep-fresh.ts'
import type { TypedCalls } from './typed-calls.ts'

/** Options of a completion. */
export interface CompletionOptions extends CallOptions {
  /** Other arguments of the prompt, or variables of the template, by name. */
  readonly arguments?: Readonly<Record<string, string>> | undefined
}

/**
 * Typed calls to one server. Every method rejects with `ClientError`, or with `signal.reason` when it was cancelled.
 * Lists come item by item (`eachTool`) or whole (`listTools`). `Types` are those of the server's tools and prompts,
 * where they are known.
 */
export interface Client<Types = unknown> extends TypedCalls<Types>, MultiRoundCalls, SubscriptionCalls, AsyncResource {
  /** The revisions, capabilities and instructions of the server (server/discover). No other call needs it. */
  discover(options?: ReadOptions): Promise<DiscoverResult>
  /** Values for an argument that a user is typing (server/utilities/completion). */
  complete(
    ref: CompleteRequestParams['ref'],
    argument: CompleteRequestParams['argument'],
    options?: CompletionOptions,
  ): Promise<CompleteResult>
  eachTool(options?: ReadOptions): AsyncIterable<Tool>
  listTools(options?: ReadOptions): Promise<Tool[]>
  eachPrompt(options?: ReadOptions): AsyncIterable<Prompt>
  listPrompts(options?: ReadOptions): Promise<Prompt[]>
  eachResource(options?: ReadOptions): AsyncIterable<Resource>
  listResources(options?: ReadOptions): Promise<Resource[]>
  eachResourceTemplate(options?: ReadOptions): AsyncIterable<ResourceTemplate>
  listResourceTemplates(options?: ReadOptions): Promise<ResourceTemplate[]>
  /**
   * Calls a method that has no function here, such as one of an extension, as all others are called. The result is
   * returned unchecked, and never from the cache.
   */
  readonly request: ExtensionRequest
  /** The cached results. */
  readonly cache: ClientCache
  /**
   * The name and version that the server last gave: unverified, for display. Undefined before its first answer
   * (basic/index, `_meta`).
   */
  readonly serverInfo: Pick<Implementation, 'name' | 'version'> | undefined
  /**
   * Closes what extensions opened and, if the client was made of a connection, the connection. Clients that share a
   * connection close the connection instead.
   */
  close(): Promise<void>
}
