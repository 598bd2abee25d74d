import type { Exchange, Icon, Implementation, JsonObject, JsonSchemaCompiler } from '@x/schema'
import type { StateCodec } from '@x/state-codec'
import type { CacheHints } from './described.ts'
import type { Prompt } from './prompts/prompt.ts'
import type { Resource, ResourceTemplate } from './resources/resource.ts'
import type { ErrorPlace } from './request/scope.ts'
import type { ServerWarning } from './server-warning.ts'
import type { LoadView } from './shedding/server-load.ts'
import type { SheddingOptions } from './shedding/shedding-options.ts'
import type { SubscriptionOptions } from './subscriptions/options.ts'
import type { ListKind } from './subscriptions/topics.ts'
import type { Tool } from './tools/tool.ts'

/** What a server offers. A kind that is absent is not declared, and its methods are not found; an empty one is. */
export interface ServerOffers {
  readonly tools?: readonly Tool[] | undefined
  readonly prompts?: readonly Prompt[] | undefined
  readonly resources?: readonly Resource[] | undefined
  readonly resourceTemplates?: readonly ResourceTemplate[] | undefined
}

/** Everything that makes a server. */
export interface ServerDefinition extends ServerOffers {
  /** The software's name, for programs. */
  readonly name: string
  /** The software's version. */
  readonly version: string
  /** The software's name, for people. */
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly icons?: readonly Icon[] | undefined
  readonly websiteUrl?: string | undefined
  /** Tells a model how to use the server. */
  readonly instructions?: string | undefined
  /** Settings by the identifier of an extension; identifiers have a prefix, such as `com.example/`. */
  readonly extensions?: { readonly [identifier: string]: JsonObject } | undefined
  /** Entries in a page of a list; 1000 when absent. */
  readonly pageSize?: number | undefined
  /**
   * For how long and by whom the lists and the discovery may be kept: 5 minutes, and by anybody, when absent. A list with
   * a `visibleTo` in it is always private.
   */
  readonly cache?: CacheHints | undefined
  /** Compiles schemas that are given as JSON Schema; `compileJsonSchema` of `@x/schema/json-schema` when absent. */
  readonly compileSchema?: JsonSchemaCompiler | undefined
  /** Whether results say which server they come from; true when absent (basic/index, `_meta`). */
  readonly serverInfo?: boolean | undefined
  /** Progress and log messages that one call may send in a second, 100 when absent; more are dropped. */
  readonly messagesPerSecond?: number | undefined
  /** Is told of every error that the client does not see whole. */
  readonly onError?: ((error: unknown, where: ErrorPlace) => void) | undefined
  /**
   * What a model reads of an error that a tool threw. When absent, the message of an `Error`, without its stack and
   * cause; of anything else, that the tool failed.
   */
  readonly describeError?: ((error: unknown, where: ErrorPlace) => string) | undefined
  /** Is told, once each, of what its author should know though the calls go on; `console.warn` when absent. */
  readonly onWarning?: ((warning: ServerWarning) => void) | undefined
  /**
   * Seals what a call that asks leaves with its client: `sealedState({ keys: [process.env.STATE_KEY] })`, with the same keys at
   * every instance. When absent, with a random key, which is enough for one process on one machine. `false` where no
   * handler asks: then `ctx.elicit` and its like fail.
   */
  readonly state?: StateCodec | false | undefined
  /**
   * Runs every handler again from the top at each of its awaits, and warns of what is not the same every time. On under
   * test runners (Vitest, Jest, node:test) when absent, and off elsewhere.
   */
  readonly strictReplay?: boolean | undefined
  /**
   * How `subscriptions/listen` is served: within this process when absent; `false` where nobody is to be told of changes,
   * and none is declared.
   */
  readonly subscriptions?: SubscriptionOptions | false | undefined
  /**
   * When running calls move on to other instances: the answer is then `requestState` alone, with which the client comes back at
   * once. On when absent, for calls whose retry may reach another instance that has the same `state`; `false` where all calls
   * run to their end.
   */
  readonly shedding?: false | SheddingOptions | undefined
  /** Milliseconds, from any beginning; `performance.now` when absent. */
  readonly now?: (() => number) | undefined
  /** Milliseconds since 1970; `Date.now` when absent. */
  readonly wallClock?: (() => number) | undefined
  /** Makes the ids of calls; `crypto.randomUUID` when absent. */
  readonly randomUuid?: (() => string) | undefined
}

/**
 * A server: an exchange that any number of connections and callers may share, because it keeps nothing of a request.
 */
export interface Server extends Exchange, LoadView {
  /** What the server says of itself. */
  readonly info: Implementation
  /** Why only this machine may reach the server, or undefined when others may: it has no `state`. */
  readonly localOnly: string | undefined
  /**
   * Replaces the kinds that are given. All of it is compiled before any of it is used: when it throws
   * {@link DefinitionError}, the server goes on as before. Requests under way end with the definitions that they began with.
   *
   * Tells those who listen that the lists changed; a bus that fails at it is told to `onError`.
   */
  update(offers: ServerOffers): void
  /**
   * Tells everybody who listens, at whichever instance, that a list has changed. `update` does so by itself: this is for what
   * varies without it, as what `visibleTo` decides by. Rejects when the bus fails.
   */
  changed(kind: ListKind): Promise<void>
  /** Tells everybody who subscribed to this resource, at whichever instance, that it has changed. Rejects when the bus fails. */
  updated(uri: string): Promise<void>
}
