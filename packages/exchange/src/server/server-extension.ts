import type { Call, Exchange, Middleware } from '../call/exchange.ts'
import type { Implementation, RpcNotification, RpcRequest, ReadResourceResult, CacheScope, Resource } from '@x/schema'
import type { ChangeBus, JsonObject, JsonValue, Ledger, Log, Runtime } from '@x/core'
import type { ProtocolAdapters } from '../transports/protocol-adapters.ts'
import type { ListKind, Undrain } from './server.ts'
import type { ServerEvent } from './server-event.ts'

declare const apiType: unique symbol

/**
 * An extension of a server. It adds methods, capabilities, middleware or protocol adapters. Pass it to `createServer`
 * in the list `extensions`. For each server, `start` creates the state of the extension.
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
  /** Distinguishes the extension from those of clients, so that the compiler rejects the wrong kind. */
  readonly extends: 'server'
  /**
   * The name of the member that the extension adds to the server: `tasks` adds `server.tasks`. `createServer` throws a
   * `DefinitionError` for a name that is in use.
   */
  readonly name: Name
  /**
   * The identifier of the extension: a reverse domain name, a slash and a name, such as `com.example/quota`. Absent for
   * an extension that clients cannot notice.
   */
  readonly identifier?: string | undefined
  /**
   * The settings in `capabilities.extensions`, under the identifier of the extension. Default: the extension is not
   * declared there. Settings need an identifier.
   */
  readonly capabilities?: JsonObject | undefined
  /** Further members of the server's capabilities, for extensions from before `capabilities.extensions` existed. */
  readonly serverCapabilities?: JsonObject | undefined
  /**
   * The methods of the client notifications that {@link ExtensionInstance.receive} handles. It receives no other
   * notifications.
   */
  readonly notifications?: readonly string[] | undefined
  /**
   * Middleware around every call. Middleware of extensions with `needsPrincipal` runs outside the middleware of all
   * other extensions.
   */
  readonly middleware?: Middleware | undefined
  /**
   * The reason why only this machine may connect to a server with this extension. Undefined if other machines may
   * connect.
   */
  readonly localOnly?: string | undefined
  /**
   * True if the extension makes decisions by the principal of a call. Transports then listen beyond loopback only with
   * `auth`.
   */
  readonly needsPrincipal?: boolean | undefined
  /**
   * True if `start` returns {@link ExtensionInstance.resources}. The server then declares the capability `resources`,
   * also without resources of its own. Default: false.
   */
  readonly servesResources?: boolean | undefined
  /**
   * Creates the extension's part of one server. It must open no connections before the first request or the first call
   * of `ready()`.
   */
  start?(host: ExtensionHost): ExtensionInstance<Api>
  readonly [apiType]?: Api
}

/** The parts of a server that its extensions may use. */
export interface ExtensionHost {
  /**
   * The exchange of the server with the middleware of the other extensions, but without `use`, without this extension's
   * own middleware and without authorization. Use it for work that was authorized before.
   */
  readonly innerExchange: Exchange
  /** The exchange that callers of the server use, with all middleware and authorization. */
  readonly exchange: Exchange
  readonly info: Implementation
  readonly runtime: Runtime
  /** The ledger of the server. It counts everything that the extension keeps for a caller. */
  readonly ledger: Ledger
  /**
   * The codec that the author gave to the server. Undefined if the server has no codec, or a codec with a random key,
   * because no other instance could open its tokens.
   */
  readonly state: HostStateCodec | undefined
  /** The change bus that the author gave to the server, over which its instances notify one another of changes. */
  readonly bus: ChangeBus | undefined
  /** Returns the tools of the server as its author defined them. An update of the server returns another array. */
  tools(): readonly ToolView[]
  /**
   * Counts one more piece of running work in the load of the server, until the returned function is called. Use it for
   * work between two runs of a handler, such as a poll. The server itself counts the runs of handlers.
   */
  beginWork(): () => void
  /** Notifies the subscribers of all instances that a list has changed, as the function of the server does. */
  notifyListChanged(kind: ListKind): Promise<void>
  /** Notifies the subscribers of a resource on all instances, as the function of the server does. */
  notifyResourceUpdated(uri: string): Promise<void>
  /** The log of the server, for warnings and for failures whose details the caller does not see. It never throws. */
  readonly log: Log
  /** Passes an event to every extension that observes. Does nothing without such an extension. It never throws. */
  emit(event: ServerEvent): void
  /**
   * Returns the method of a request, and the name of its tool or prompt, as far as this server has them. Undefined for
   * a method that the server does not serve. Names from this function are safe as names of spans and metrics, because a
   * caller cannot invent them.
   */
  offers(request: RpcRequest): OfferedTarget | undefined
}

/** The method of a request, and the name of its tool or prompt, that a server has. */
export interface OfferedTarget {
  readonly method: string
  readonly name: string | undefined
}

/** A tool of a server, for extensions that recognize the definitions of their own tools. */
export interface ToolView {
  readonly name: string
  readonly definition: object
}

/** The part of a server's codec that extensions use. A `StateCodec` of `@x/state-codec` implements it. */
export interface HostStateCodec {
  seal(value: JsonValue, context: { readonly purpose: string }): Promise<string>
  open(token: string, context: { readonly purpose: string }): Promise<JsonValue>
}

/** The functions and the state of an extension for one server. */
export interface ExtensionInstance<Api extends object | undefined = object | undefined> {
  /** The value of the server's member with the name of the extension. Default: the server has no such member. */
  readonly api?: Api
  /**
   * The reason why only this machine may connect to this server. For an extension that decides this for each server.
   */
  readonly localOnly?: string | undefined
  /** The reason why what the extension seals opens in this process alone, if the server has no key to seal it with. */
  readonly singleProcess?: string | undefined
  /** The handlers of the extension's methods, by method. */
  readonly methods?: Readonly<Record<string, ExtensionMethod>> | undefined
  /** Middleware around every call, inside `ServerExtension.middleware`. */
  readonly middleware?: Middleware | undefined
  readonly adapters?: ProtocolAdapters | undefined
  /** Resources of the extension, for an extension with `servesResources`. */
  readonly resources?: ExtensionResources | undefined
  /**
   * Receives the events of the server, in the order in which they happen. An error that it throws is logged and has no
   * other effect. Events are created only for a server with an extension that observes.
   */
  observe?(event: ServerEvent): void
  /** Handles a client notification whose method is in `ServerExtension.notifications`. */
  receive?(notification: RpcNotification, call: Call): void
  /**
   * True if the server can serve no call without the dependencies of the extension. The server is then not ready while
   * {@link ready} returns false. Otherwise the server stays ready, and its `load.unavailable` contains the name of the
   * extension. Default: false.
   */
  readonly required?: boolean | undefined
  /**
   * Returns true if the dependencies of the extension can be reached. A rejection, or no answer within 2 seconds,
   * counts as false and is reported.
   */
  ready?(): boolean | Promise<boolean>
  /** Announces a stop of the server to the extension. The returned function withdraws the announcement. */
  drain?(): Undrain
  /** Closes everything that the extension opened. */
  close?(options: { readonly graceMs: number }): Promise<void>
}

/**
 * Serves a method of an extension. Returns the result, or throws the `McpError` for the client. The server checks the
 * request's `_meta` before it calls the function. It adds `resultType: 'complete'` to a result without it. A server of
 * `createServer` also sets the server's info.
 */
export type ExtensionMethod = (request: RpcRequest, call: Call) => JsonObject | Promise<JsonObject>

/** Resources that an extension serves in addition to those of the server's definitions. */
export interface ExtensionResources {
  /**
   * Lists resources for `resources/list`: all of them, or one page. A page has the `nextCursor` of the following page,
   * which a later call receives as `cursor`. Check the cursor before use, because a client may send any text. Default:
   * the resources can be read and are not listed.
   */
  list?(call: Call, cursor: string | undefined): ExtensionResourcePage | Promise<ExtensionResourcePage>
  /** Returns true for the URI of a resource that the caller may read. Clients subscribe to changes of such resources. */
  has(uri: string, call: Call): boolean
  /**
   * Reads a resource. Returns undefined for a URI that is not one of the extension's. The server asks its definitions
   * first, and then its extensions in their order.
   */
  read(uri: string, call: Call): ReadResourceResult | undefined | Promise<ReadResourceResult | undefined>
}

/** Some of an extension's resources, as `resources/list` shows them (server/resources, listing resources). */
export interface ExtensionResourcePage {
  readonly resources: readonly Resource[]
  /** The cursor of the next page. Absent from the last page. */
  readonly nextCursor?: string | undefined
  /** Milliseconds that clients may cache the page. */
  readonly ttlMs: number
  /** `public` allows shared caches, and requires that every caller gets the same page. */
  readonly cacheScope: CacheScope
}

/** The members that a list of extensions adds to a server. */
export type ServerApis<Extensions extends readonly ServerExtension[]> = {
  readonly [E in Extensions[number] as E extends ServerExtension<string, infer Api>
    ? Api extends object
      ? LiteralName<E['name']>
      : never
    : never]: E extends ServerExtension<string, infer Api> ? Api : never
}

/**
 * The type of an extension's name if it is a literal type. It is `never` for a name of the type `string`, which adds no
 * member to the type of the server.
 */
export type LiteralName<Name extends string> = string extends Name ? never : Name

/** The types of one tool: the arguments that a caller writes, and the structured content that a caller reads. */
export interface ToolTypes<Input = unknown, Output = unknown> {
  readonly input: Input
  readonly output: Output
}

/** The types of a server's tools, and of the arguments of its prompts, by name. */
export interface ServerTypes {
  readonly tools: { readonly [name: string]: ToolTypes }
  readonly prompts: { readonly [name: string]: unknown }
}

/** A type whose optional member passes other types to the compiler. The member does not exist at run time. */
export interface TypeCarrier<Types> {
  readonly '~types'?: Types | undefined
}

/**
 * The types of a server's tools and prompts, for clients in other programs. `Source` is the type of a server, or an
 * interface that extends `TypesOf`. Such an interface keeps declarations and editor hints short. The result is
 * `unknown` for any other type.
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
