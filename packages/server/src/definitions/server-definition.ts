import type { LedgerLimits, Log, Runtime } from '@x/core'
import type {
  Icon,
  JsonSchemaCompiler,
  LiteralName,
  Middleware,
  Server,
  ServerExtension,
  ToolTypes,
  TypeCarrier,
} from '@x/schema'
import type { StateCodec } from '@x/state-codec'
import type { CacheHints } from './base-definition.ts'
import type { Prompt } from './prompt.ts'
import type { Resource, ResourceTemplate } from './resource.ts'
import type { IdempotencyOptions, McpServerLoad, SheddingOptions } from '../shedding/shedding-options.ts'
import type { SubscriptionOptions } from '../subscriptions/options.ts'
import type { Tool } from './tool.ts'

/** The offers of a server. A kind that is absent is not declared, and its methods are not found. An empty one is. */
export interface ServerOffers<Tools extends Tool = Tool, Prompts extends Prompt = Prompt> {
  readonly tools?: readonly Tools[] | undefined
  readonly prompts?: readonly Prompts[] | undefined
  readonly resources?: readonly Resource[] | undefined
  readonly resourceTemplates?: readonly ResourceTemplate[] | undefined
}

/** The definition of a server: the argument of `createServer`. */
export interface ServerDefinition<
  Extensions extends readonly ServerExtension[] = readonly ServerExtension[],
  Tools extends Tool = Tool,
  Prompts extends Prompt = Prompt,
> extends ServerOffers<Tools, Prompts> {
  /**
   * The server's name, for programs. Instances of one service have the same name: a `requestState` opens only at a
   * server of the name that sealed it.
   */
  readonly name: string
  /** The server's version. */
  readonly version: string
  /** The server's name, for people. */
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly icons?: readonly Icon[] | undefined
  readonly websiteUrl?: string | undefined
  /** Instructions for a model that uses the server. */
  readonly instructions?: string | undefined
  /**
   * Extensions of the server, such as `tasks({ store })`. The middleware of an extension that needs a principal runs
   * before that of the others, at any place in the list.
   */
  readonly extensions?: Extensions | undefined
  /**
   * Middleware around every call, such as timing or logging. The first of the list is the outermost. The call of a task
   * passes it once, when the task is created.
   */
  readonly use?: readonly Middleware[] | undefined
  /**
   * Returns true when the dependencies of the handlers can be reached. `/readyz` calls it, and asks the extensions too.
   * A rejection counts as false.
   */
  readonly ready?: (() => boolean | Promise<boolean>) | undefined
  /**
   * Closes what the author opened for the server, such as the client of a store: an open connection would keep the
   * process alive. Called once, when the server and its extensions have ended. An error is logged.
   */
  readonly close?: (() => void | Promise<void>) | undefined
  /**
   * The time that clients may cache lists and the discovery, and the caches that may store them. Default: 5 minutes, in
   * every cache. A list is always private when one of its entries has a `visibleTo`.
   */
  readonly cache?: CacheHints | undefined
  /** Compiles schemas that are given as JSON Schema. Default: `compileTrustedJsonSchema` of `@x/schema/json-schema`. */
  readonly compileSchema?: JsonSchemaCompiler | undefined
  /**
   * Bounds of one caller: its calls, streams, tasks, sessions and bytes at one time. A request beyond a bound is
   * rejected, over HTTP with 429. A caller is a principal, or an address where a request has no principal
   * (`clientAddress` of the transport).
   */
  readonly limits?: LedgerLimits | undefined
  /**
   * Receives the errors that a client does not see whole, and warnings for the author, as records that a structured
   * logger takes. Default: a line of the standard error for each. The extensions and transports of the server log
   * here too.
   */
  readonly log?: Log | undefined
  /**
   * The codec that seals the state of a call while its client answers a question, such as
   * `sealedState({ keys: [process.env.STATE_KEY] })`, with the same keys at every instance. Default: a codec with a
   * random key, which is enough for one process on one machine. `false` for a server whose handlers ask nothing:
   * `ctx.elicit` then fails.
   */
  readonly state?: StateCodec | false | undefined
  /**
   * True runs every handler again from its first line at each of its awaits, and logs a warning when a run differs from
   * the one before. Default: true under the test runners Vitest, Jest and node:test, and false elsewhere.
   */
  readonly strictReplay?: boolean | undefined
  /**
   * The bus that carries changes to the streams of `subscriptions/listen` at every instance. Default: a bus within this
   * process. `false` turns subscriptions off: the server then declares no notification.
   */
  readonly subscriptions?: SubscriptionOptions | false | undefined
  /**
   * The measured load, and the limits of an overloaded instance. An overloaded or stopping instance hands running calls
   * off to others: its answer is then `requestState` alone, with which the client sends the call again at once. The
   * instance does so only for calls whose retry may reach another instance with the same `state`. `false` lets every
   * call run to its end.
   */
  readonly shedding?: false | SheddingOptions | undefined
  /**
   * The store of completed results. A call that a client sends again with the same idempotency key is answered from the
   * store for ten minutes, if its caller has a principal. Without a store such a call runs again, and its steps have
   * the same idempotency keys.
   */
  readonly idempotency?: IdempotencyOptions | undefined
  /** Clocks, timers and random ids, for tests. Default for each absent function: that of the platform. */
  readonly runtime?: Partial<Runtime> | undefined
}

/**
 * The types of tools and prompts by name, for callers. See `TypesOf` of `@x/schema`. A name that no type shows is left
 * out.
 */
export interface TypesByName<Tools extends Tool, Prompts extends Prompt> {
  readonly tools: {
    readonly [T in Tools as LiteralName<T['name']>]: T extends Tool<string, infer Input, infer Output>
      ? ToolTypes<Input, Output>
      : never
  }
  readonly prompts: {
    readonly [P in Prompts as LiteralName<P['name']>]: P extends Prompt<string, infer Input> ? Input : never
  }
}

/**
 * A server made of definitions. Any number of connections and callers may share its exchange, because it keeps nothing
 * of a request. Its type carries those of its tools and prompts, as `createServer` found them, to clients.
 */
export interface McpServer<Types = unknown> extends Server, TypeCarrier<Types> {
  readonly load: McpServerLoad
  /**
   * Replaces the kinds that are given, and notifies subscribers of the lists. All of it is compiled before any of it is
   * used: when it throws {@link DefinitionError}, the server continues as before. Requests that run end with the
   * definitions that they began with. A change bus that fails is logged.
   */
  update(offers: ServerOffers): void
}
