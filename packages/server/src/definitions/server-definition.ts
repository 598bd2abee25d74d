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

/** Everything that makes a server. */
export interface ServerDefinition<
  Extensions extends readonly ServerExtension[] = readonly ServerExtension[],
  Tools extends Tool = Tool,
  Prompts extends Prompt = Prompt,
> extends ServerOffers<Tools, Prompts> {
  /** The software's name, for programs. */
  readonly name: string
  /** The software's version. */
  readonly version: string
  /** The software's name, for people. */
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly icons?: readonly Icon[] | undefined
  readonly websiteUrl?: string | undefined
  /** Instructions for a model that uses the server. */
  readonly instructions?: string | undefined
  /**
   * Extensions of the server, such as `tasks({ store })`. Those that authorize are outside the others, at any place in
   * the list.
   */
  readonly extensions?: Extensions | undefined
  /**
   * Middleware around everything, the first outermost: timing, logging, limits. Calls that a task continues pass it
   * once, when the task is created.
   */
  readonly use?: readonly Middleware[] | undefined
  /**
   * Returns whether the dependencies of the handlers can be reached. Asked by `/readyz`, beside the extensions. A
   * rejection counts as false.
   */
  readonly ready?: (() => boolean | Promise<boolean>) | undefined
  /**
   * Closes what the author opened for the server, such as the client of a store: an open connection would keep the
   * process alive. Called once, when the server and its extensions have ended. An error is logged.
   */
  readonly close?: (() => void | Promise<void>) | undefined
  /**
   * The lifetime of the lists and the discovery in caches, and the caches that may store them. Default: 5 minutes, every
   * cache. A list with a `visibleTo` in it is always private.
   */
  readonly cache?: CacheHints | undefined
  /** Compiles schemas that are given as JSON Schema. Default: `compileTrustedJsonSchema` of `@x/schema/json-schema`. */
  readonly compileSchema?: JsonSchemaCompiler | undefined
  /**
   * Numbers of what one caller may have at once of each kind. One more is rejected, over HTTP with 429. A caller is a
   * principal, or the address of those without one (`clientAddress` of the transport).
   */
  readonly limits?: LedgerLimits | undefined
  /**
   * Receives the errors that a client does not see whole, and warnings for the author, as records that a structured
   * logger takes. Default: a line of the standard error for each. The extensions and transports of the server log
   * here too.
   */
  readonly log?: Log | undefined
  /**
   * Seals what a call that asks leaves with its client: `sealedState({ keys: [process.env.STATE_KEY] })`, with the same
   * keys at every instance. When absent, with a random key, which is enough for one process on one machine. `false`
   * where no handler asks: then `ctx.elicit` and its like fail.
   */
  readonly state?: StateCodec | false | undefined
  /**
   * Runs every handler again from the top at each of its awaits, and warns of what is not the same every time. On under
   * test runners (Vitest, Jest, node:test) when absent, and off elsewhere.
   */
  readonly strictReplay?: boolean | undefined
  /**
   * The options of `subscriptions/listen`: within this process when absent. `false` where clients are not notified of
   * changes, and no notification is declared.
   */
  readonly subscriptions?: SubscriptionOptions | false | undefined
  /**
   * The load, and the limits of an overloaded instance. Running calls of an overloaded or stopping instance move on to
   * others: the answer is then `requestState` alone, with which the client sends the call again at once. This holds
   * for calls whose retry may reach another instance that has the same `state`. `false` where all calls run to their
   * end.
   */
  readonly shedding?: false | SheddingOptions | undefined
  /**
   * Keeps results of tools for a time, so that a call which its client sends again is answered and not run again: for
   * calls with an idempotency key and an authenticated caller. Nothing is kept when absent. Such a call then runs
   * again, with the same idempotency keys.
   */
  readonly idempotency?: IdempotencyOptions | undefined
  /** Time and chance, for tests. The platform's where a function is absent. */
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
