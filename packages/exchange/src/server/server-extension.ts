import type { Call, Exchange, Middleware } from '../call/exchange.ts'
import type { Implementation, ListResourcesResult, ReadResourceResult, RpcNotification, RpcRequest } from '@x/schema'
import type { ChangeBus, JsonObject, JsonValue, Ledger, Log, Runtime } from '@x/core'
import type { ProtocolAdapters } from '../transports/protocol-adapters.ts'
import type { ListKind, Undrain } from './server.ts'
import type { ServerEvent } from './server-event.ts'

declare const apiType: unique symbol

/**
 * Adds methods, capabilities, middleware or protocol adapters to a server: pass it to `createServer` in the list
 * `extensions`. `start` creates its state for each server.
 *
 * @example
 * const pings: ServerExtension<'pings', { count(): number }> = {
 *   extends: 'server',
 *   name: 'pings',
 *   identifier: 'com.example/pings',
 *   capabilities: {},
 *   start: () => {
 *     let count = 0
 *     const ping = () => ({ count: ++count })
 *     return { api: { count: () => count }, methods: { 'com.example/ping': ping } }
 *   },
 * }
 */
export interface ServerExtension<Name extends string = string, Api extends object | undefined = object | undefined> {
  /** Distinguishes it from an extension of clients, so that the compiler rejects the wrong kind. */
  readonly extends: 'server'
  /**
   * Name of the member that the server gets: `tasks` adds `server.tasks`. `createServer` throws a `DefinitionError` for
   * a name that is in use.
   */
  readonly name: Name
  /**
   * Identifier of the extension: a reverse domain name, a slash and a name, such as `com.example/quota`. Absent if
   * clients cannot notice the extension.
   */
  readonly identifier?: string | undefined
  /**
   * Settings in `capabilities.extensions`, under the extension's identifier, which they need, and which no other
   * extension with settings may have. Default: the extension is not declared there.
   */
  readonly capabilities?: JsonObject | undefined
  /** Further members of the server's capabilities, for extensions from before `capabilities.extensions` existed. */
  readonly serverCapabilities?: JsonObject | undefined
  /** Methods of the client notifications that {@link ExtensionInstance.receive} handles. It receives no others. */
  readonly notifications?: readonly string[] | undefined
  /** Goes around every call. Middleware of extensions with `needsPrincipal` is outside that of all others. */
  readonly middleware?: Middleware | undefined
  /** Why only this machine may connect to a server with this extension. Undefined if others may. */
  readonly localOnly?: string | undefined
  /**
   * True if the extension decides by the principal of a call. Transports then listen beyond loopback only with `auth`.
   */
  readonly needsPrincipal?: boolean | undefined
  /**
   * True if `start` returns {@link ExtensionInstance.resources}. The server then declares the capability `resources`,
   * also without resources of its own. Default: false.
   */
  readonly servesResources?: boolean | undefined
  /**
   * Makes the extension's part of one server. It must open no connections before the first request or the first call of
   * `ready()`.
   */
  start?(host: ExtensionHost): ExtensionInstance<Api>
  readonly [apiType]?: Api
}

/** What a server lets its extensions use. */
export interface ExtensionHost {
  /**
   * The server's exchange with the middleware of the other extensions, but without `use`, this extension's own
   * middleware, and authorization. For work that was authorized before.
   */
  readonly innerExchange: Exchange
  /** The exchange that callers of the server use, with all middleware and authorization. */
  readonly exchange: Exchange
  readonly info: Implementation
  readonly runtime: Runtime
  /** Counts everything that the extension keeps for a caller. */
  readonly ledger: Ledger
  /**
   * The codec that the author gave to the server. Undefined if there is none, or one with a random key, because no
   * other instance could open its tokens.
   */
  readonly state: HostStateCodec | undefined
  /** The change bus that the author gave to the server, over which its instances notify one another of changes. */
  readonly bus: ChangeBus | undefined
  /** Tools of the server as its author defined them. After an update of the server it is another array. */
  tools(): readonly ToolView[]
  /**
   * Counts one more piece of running work in the server's load, until the returned function is called. For work between
   * two runs of a handler, such as a poll; the server itself counts the runs.
   */
  beginWork(): () => void
  /** Notifies the subscribers of all instances that a list has changed, as the function of the server does. */
  notifyListChanged(kind: ListKind): Promise<void>
  /** Notifies the subscribers of a resource on all instances, as the function of the server does. */
  notifyResourceUpdated(uri: string): Promise<void>
  /** For warnings, and for failures whose details the caller does not see. Never throws. */
  readonly log: Log
  /** Passes an event to every extension that observes. Does nothing without one. Never throws. */
  emit(event: ServerEvent): void
  /**
   * Method of a request, and the name of its tool or prompt, as far as this server has them. Undefined for a method
   * that it does not serve. These names are safe for spans and metrics, because a caller cannot invent them.
   */
  offers(request: RpcRequest): OfferedTarget | undefined
}

/** A method, and the name of a tool or prompt, that a server has. */
export interface OfferedTarget {
  readonly method: string
  readonly name: string | undefined
}

/** A server's tool, for extensions that recognize the definitions of their own tools. */
export interface ToolView {
  readonly name: string
  readonly definition: object
}

/** As much of a server's codec as extensions use. A `StateCodec` of `@x/state-codec` has it. */
export interface HostStateCodec {
  seal(value: JsonValue, context: { readonly purpose: string }): Promise<string>
  open(token: string, context: { readonly purpose: string }): Promise<JsonValue>
}

/** What an extension does and keeps for one server. */
export interface ExtensionInstance<Api extends object | undefined = object | undefined> {
  /** Value of the server's member with the extension's name. Default: no such member. */
  readonly api?: Api
  /** Why only this machine may connect to this server, for an extension that decides this for each server. */
  readonly localOnly?: string | undefined
  /** Why what the extension seals opens in this process alone, if the server has no key to seal it with. */
  readonly singleProcess?: string | undefined
  /** Handlers of the extension's methods, by method. `createServer` rejects a method that the server itself has. */
  readonly methods?: Readonly<Record<string, ExtensionMethod>> | undefined
  /** Goes around every call, inside `ServerExtension.middleware`. */
  readonly middleware?: Middleware | undefined
  readonly adapters?: ProtocolAdapters | undefined
  /** For an extension with `servesResources`. */
  readonly resources?: ExtensionResources | undefined
  /**
   * Receives the server's events, in the order in which they happen. What it throws is logged, and changes nothing.
   * Without an observing extension, events are not even created.
   */
  observe?(event: ServerEvent): void
  /** Handles a client notification whose method is in `ServerExtension.notifications`. */
  receive?(notification: RpcNotification, call: Call): void
  /**
   * True if the server can serve no call without what the extension depends on, and so is not ready while {@link ready}
   * returns false. Otherwise it stays ready, and its `load.unavailable` has the name of the extension. Default: false.
   */
  readonly required?: boolean | undefined
  /**
   * True if what the extension depends on can be reached. A rejection, or no answer within 2 seconds, counts as false
   * and is reported.
   */
  ready?(): boolean | Promise<boolean>
  /** Says that the server will stop. The returned function withdraws that. */
  drain?(): Undrain
  /** Closes everything that the extension opened. */
  close?(options: { readonly graceMs: number }): Promise<void>
}

/**
 * Serves a method of an extension: returns the result, or throws the `McpError` for the client. The server checks the
 * request's `_meta` before, and adds `resultType: 'complete'` to a result without it. A server of `createServer` also
 * sets the server's info.
 */
export type ExtensionMethod = (request: RpcRequest, call: Call) => JsonObject | Promise<JsonObject>

/** Resources of an extension, beside those of the server's definitions. */
export interface ExtensionResources {
  /**
   * Lists resources for `resources/list`: all of them, or one page. A page has the `nextCursor` of the next one, which
   * a later call gets as `cursor`; check it, because a client may send any text. Default: the resources can be read and
   * are not listed.
   */
  list?(call: Call, cursor: string | undefined): ExtensionResourcePage | Promise<ExtensionResourcePage>
  /** True for a resource that the caller may read. Clients subscribe to changes of such resources. */
  has(uri: string, call: Call): boolean
  /**
   * Reads a resource. Undefined for a URI that is not one of the extension's. The server asks its definitions first,
   * and then its extensions in their order.
   */
  read(uri: string, call: Call): ReadResourceResult | undefined | Promise<ReadResourceResult | undefined>
}

/** Some of an extension's resources, as `resources/list` shows them (server/resources, listing resources). */
export type ExtensionResourcePage = Pick<ListResourcesResult, 'resources' | 'nextCursor' | 'ttlMs' | 'cacheScope'>

/** What a list of extensions adds to a server. */
export type ServerApis<Extensions extends readonly ServerExtension[]> = {
  readonly [E in Extensions[number] as E extends ServerExtension<string, infer Api>
    ? Api extends object
      ? LiteralName<E['name']>
      : never
    : never]: E extends ServerExtension<string, infer Api> ? Api : never
}

/**
 * The type of an extension's name if it is a literal type. `never` for the type `string`, which adds no member to the
 * type of the server.
 */
export type LiteralName<Name extends string> = string extends Name ? never : Name

/** Types of one tool: the arguments that a caller writes, and the structured content that a caller reads. */
export interface ToolTypes<Input = unknown, Output = unknown> {
  readonly input: Input
  readonly output: Output
}

/** Types of a server's tools, and of the arguments of its prompts, by name. */
export interface ServerTypes {
  readonly tools: { readonly [name: string]: ToolTypes }
  readonly prompts: { readonly [name: string]: unknown }
}

/** Passes types to the compiler in an optional member, which does not exist at run time. */
export interface TypeCarrier<Types> {
  readonly '~types'?: Types | undefined
}

/**
 * Types of a server's tools and prompts, for clients in other programs. `Source` is the type of a server, or an
 * interface that extends `TypesOf`, which keeps declarations and editor hints short. The result is `unknown` for any
 * other type.
 *
 * @example
 * export interface Api extends TypesOf<typeof server> {}
 */
export type TypesOf<Source> = '~types' extends keyof Source
  ? Source extends TypeCarrier<infer Types>
    ? Types
    : unknown
  : Source extends ServerTypes
    ? Source
    : unknown
