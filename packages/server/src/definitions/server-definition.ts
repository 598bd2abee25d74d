import { type LedgerLimits, ledgerLimitTable, type Log, type OptionTable, type Runtime } from '@x/core'
import type { LiteralName, Middleware, Server, ServerExtension, ToolSearch, ToolTypes, TypeCarrier } from '@x/exchange'
import type { Icon, JsonSchemaCompiler } from '@x/schema'
import type { StateCodec } from '@x/state-codec'
import type { CacheHints } from './base-definition.ts'
import type { Prompt } from './prompt.ts'
import type { Resource, ResourceTemplate } from './resource.ts'
import type { IdempotencyOptions, McpServerLoad, SheddingOptions } from '../shedding/shedding-options.ts'
import { sheddingOptionTable } from '../shedding/shedding-rules.ts'
import type { SubscriptionOptions } from '../subscriptions/options.ts'
import type { Tool } from './tool.ts'

/**
 * A server's tools, prompts and resources. If a kind is absent, the server does not declare its capability and does not
 * serve its methods. An empty list declares the capability.
 */
export interface ServerOffers<Tools extends Tool = Tool, Prompts extends Prompt = Prompt> {
  readonly tools?: readonly Tools[] | undefined
  readonly prompts?: readonly Prompts[] | undefined
  readonly resources?: readonly Resource[] | undefined
  readonly resourceTemplates?: readonly ResourceTemplate[] | undefined
}

/** The argument of `createServer`. */
export interface ServerDefinition<
  Extensions extends readonly ServerExtension[] = readonly ServerExtension[],
  Tools extends Tool = Tool,
  Prompts extends Prompt = Prompt,
> extends ServerOffers<Tools, Prompts> {
  /**
   * For programs. All instances of one service must have the same name, because a server can open a `requestState` only
   * of servers with its own name.
   */
  readonly name: string
  readonly version: string
  /** For people. */
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly icons?: readonly Icon[] | undefined
  readonly websiteUrl?: string | undefined
  /** Tells a model how to use the server. */
  readonly instructions?: string | undefined
  /**
   * Extensions, such as `tasks({ store })`. Middleware of those that need a principal runs before that of all others,
   * independent of the order of the list.
   */
  readonly extensions?: Extensions | undefined
  /**
   * Middleware around every call, such as timing or logging, the outermost first. A call that becomes a task passes
   * through it once, when the task is created.
   */
  readonly use?: readonly Middleware[] | undefined
  /**
   * Replaces a long list of tools by a search: `toolSearch()` of `@x/server/tool-search`. Default: clients receive the
   * whole list.
   */
  readonly toolSearch?: ToolSearch | undefined
  /**
   * Returns true when everything that the handlers depend on can be reached. `/readyz` calls this function, and also
   * checks the extensions. A rejection counts as false. `/readyz` waits at most 5 seconds, and reuses a result for one
   * second.
   */
  readonly ready?: (() => boolean | Promise<boolean>) | undefined
  /**
   * Closes what you opened for the server, such as the client of a store, whose open connection would keep the process
   * alive. Called once, after the server and its extensions have ended. If it fails, the error is logged.
   */
  readonly close?: (() => unknown) | undefined
  /**
   * Caching of lists and of `server/discover`. Default: 5 minutes, in shared caches too. A list is always private if
   * one of its entries has a `visibleTo`.
   */
  readonly cache?: CacheHints | undefined
  /** Compiles schemas that are given as JSON Schema. Default: `compileTrustedJsonSchema` of `@x/schema/json-schema`. */
  readonly compileSchema?: JsonSchemaCompiler | undefined
  /**
   * Bounds on what one caller has at one time: calls, streams, tasks, sessions and bytes. A request beyond a bound is
   * rejected, over HTTP with 429. A caller is identified by its principal or, for a request without a principal, by its
   * address (`clientAddress` of the transport).
   */
  readonly limits?: LedgerLimits | undefined
  /**
   * Receives log records for a structured logger: errors whose details the client does not see, and warnings for the
   * author. The server's extensions and transports log here too. Default: writes each record as a line to the standard
   * error.
   */
  readonly log?: Log | undefined
  /**
   * Seals the state of a call while its client answers a question, such as `sealedState({ keys })`, with the same keys
   * at every instance. Default: a codec with a random key, which works for a server of one process: only this machine
   * may connect then, and no call is handed off. `false` is for a server whose handlers never ask; `ctx.elicit` then
   * fails.
   */
  readonly state?: StateCodec | false | undefined
  /**
   * True starts a handler again from its first line at each `await` of `ctx`, and logs a warning if it then does
   * something else, to find code that would differ when a client answers a question. Default: true under the test
   * runners Vitest, Jest and node:test and in a module of `mcpx dev`, and false elsewhere.
   */
  readonly strictReplay?: boolean | undefined
  /**
   * Carries changes to the streams of `subscriptions/listen` at every instance. Default: a bus within this process.
   * `false` turns subscriptions off, and the server then declares no notifications of changes.
   */
  readonly subscriptions?: SubscriptionOptions | false | undefined
  /**
   * Measures load, and sets the limit at which new calls are refused. We call an instance overloaded when its event
   * loop is late by more than 25 ms, or more than 85 % of the heap's limit is used. An overloaded or stopping instance
   * hands running calls off: it answers a call with a `requestState` and no question, and the client sends the call
   * again with that state, to any instance. Only calls whose retry can reach another instance with the same `state`
   * option are handed off. `false` disables hand-offs and the limit.
   */
  readonly shedding?: false | SheddingOptions | undefined
  /**
   * Stores completed results: for ten minutes, a call that is sent again with the same idempotency key is answered from
   * the store, if the caller has a principal. Without a store the call runs again, with the same idempotency keys in
   * its steps. Not stored are results of a tool with `readOnlyHint`, those of more than 262,144 characters of JSON, and
   * those to which an extension adds members. If the store fails, the failure is logged and the call runs.
   */
  readonly idempotency?: IdempotencyOptions | undefined
  /** Clocks, timers and random ids, for tests. What is absent comes from the platform. */
  readonly runtime?: Partial<Runtime> | undefined
}

export const serverOptionTable = {
  tools: undefined,
  prompts: undefined,
  resources: undefined,
  resourceTemplates: undefined,
  name: undefined,
  version: undefined,
  title: undefined,
  description: undefined,
  icons: undefined,
  websiteUrl: undefined,
  instructions: undefined,
  extensions: undefined,
  use: undefined,
  toolSearch: undefined,
  ready: undefined,
  close: undefined,
  cache: { group: { ttlMs: undefined, scope: undefined } satisfies OptionTable<CacheHints> },
  compileSchema: undefined,
  limits: { group: ledgerLimitTable },
  log: undefined,
  state: undefined,
  strictReplay: undefined,
  subscriptions: { group: { bus: undefined } satisfies OptionTable<SubscriptionOptions> },
  shedding: { group: sheddingOptionTable },
  idempotency: { group: { store: undefined } satisfies OptionTable<IdempotencyOptions> },
  runtime: undefined,
} satisfies OptionTable<ServerDefinition>

/**
 * Types of tools and prompts by name, for callers; see `TypesOf` of `@x/exchange`. Those without a literal type of
 * their name are omitted.
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
 * A server made of definitions. Its exchange keeps no state of a connection, so any number of connections and callers
 * may share it. `Types` passes the types of its tools and prompts on to clients.
 */
export interface McpServer<Types = unknown> extends Server, TypeCarrier<Types> {
  readonly load: McpServerLoad
  /**
   * Replaces the given kinds of definitions, and notifies subscribers of the changed lists. Everything is compiled
   * before anything is replaced, so when this throws {@link DefinitionError}, the server continues unchanged. Running
   * requests end with the definitions with which they began. If the change bus fails, the error is logged.
   */
  update(offers: ServerOffers): void
}
