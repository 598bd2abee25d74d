import type { Call, Exchange, Middleware } from '../basic/exchange.ts'
import type { Implementation } from '../basic/implementation.ts'
import type { ChangeBus, JsonObject, JsonValue, Ledger, Log, Runtime } from '@x/core'
import type { RpcNotification, RpcRequest } from '../basic/rpc.ts'
import type { ProtocolAdapters } from '../transports/protocol-adapters.ts'
import type { Undrain } from './server.ts'

declare const apiType: unique symbol

/**
 * Adds methods, capabilities, middleware or protocol adapters to a server. A plain value, given to `createServer` in
 * its list of `extensions`. `start` creates the parts of one server.
 *
 * @example
 * const pings: ServerExtension<'pings', { count(): number }> = {
 *   side: 'server',
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
  /** Distinguishes the extension of a server from that of a client, so that the compiler rejects the wrong one. */
  readonly side: 'server'
  /** The member that it adds to the server (`tasks`: `server.tasks`). A name that is in use is a `DefinitionError`. */
  readonly name: Name
  /** Reverse DNS with a slash, such as `com.example/quota`. */
  readonly identifier: string
  /** Its settings in `capabilities.extensions`, under its identifier. Default: not declared there. */
  readonly capabilities?: JsonObject | undefined
  /** Further members of the server's capabilities, for extensions that are older than `extensions`. */
  readonly serverCapabilities?: JsonObject | undefined
  /** Methods of client notifications that {@link ExtensionInstance.receive} takes. Others are dropped. */
  readonly notifications?: readonly string[] | undefined
  /** Wraps every call. That of an extension with `needsPrincipal` is outside those of all others. */
  readonly middleware?: Middleware | undefined
  /** The reason why only this machine may reach a server with this extension. Undefined where others may. */
  readonly localOnly?: string | undefined
  /**
   * True when the extension decides by the principal: transports then listen beyond loopback only with `auth`.
   */
  readonly needsPrincipal?: boolean | undefined
  /** Makes the extension's part of one server. Synchronous. It opens nothing before the first request or `ready()`. */
  start?(host: ExtensionHost): ExtensionInstance<Api>
  readonly [apiType]?: Api
}

/** The part of a server that its extensions may use. */
export interface ExtensionHost {
  /**
   * The server behind the middleware of all other extensions, without `use` and without authorization: for work that
   * was authorized before.
   */
  readonly innerExchange: Exchange
  /** The exchange that callers of the server reach, with all middleware and authorization. */
  readonly exchange: Exchange
  readonly info: Implementation
  readonly runtime: Runtime
  /** The ledger of the server, for everything that the extension keeps for a caller. */
  readonly ledger: Ledger
  /**
   * The codec that the author gave to the server, undefined where the server has a random key or none, so that no other
   * instance could open what it seals.
   */
  readonly state: HostStateCodec | undefined
  /** The bus of the server's subscriptions that its author gave, over which instances notify one another. */
  readonly bus: ChangeBus | undefined
  /** Returns true while the server has tools and each of them has `task: 'required'`. */
  runsOnlyTasks(): boolean
  /**
   * Counts work of the extension as running, for the load of the server, until the returned function is called. For
   * work between two runs of a handler, such as a poll: a run is counted by the server.
   */
  beginWork(): () => void
  /** The server's log, for failures that the caller does not see whole, and for warnings. Never throws. */
  readonly log: Log
}

/** The codec of a server, as an extension uses it: a `StateCodec` of `@x/state-codec`. */
export interface HostStateCodec {
  seal(value: JsonValue, claims: { readonly purpose: string }): Promise<string>
  open(token: string, claims: { readonly purpose: string }): Promise<JsonValue>
}

/** An extension's part of one server. */
export interface ExtensionInstance<Api extends object | undefined = object | undefined> {
  /** The member of the server that has the extension's name. Default: none. */
  readonly api?: Api
  /** The reason why only this machine may reach this server, for an extension whose reason depends on the server. */
  readonly localOnly?: string | undefined
  /** Methods that the extension serves. */
  readonly methods?: Readonly<Record<string, ExtensionMethod>> | undefined
  /** Wraps every call, inside `ServerExtension.middleware`. */
  readonly middleware?: Middleware | undefined
  readonly adapters?: ProtocolAdapters | undefined
  /** Takes the client notifications that the extension declares. */
  receive?(notification: RpcNotification, call: Call): void
  /**
   * True where the server can serve no call without the extension's dependencies: it is then not ready while
   * {@link ready} is false. False when absent: the server's load then names the extension.
   */
  readonly required?: boolean | undefined
  /**
   * Returns true when the dependencies of the extension can be reached. A rejection counts as false and is reported.
   */
  ready?(): boolean | Promise<boolean>
  /** Announces a stop. Returns the function that withdraws the announcement. */
  drain?(): Undrain
  /** Ends what the extension opened. */
  close?(options: { readonly graceMs: number }): Promise<void>
}

/**
 * Serves a method of an extension: returns the result, or throws the `McpError` that the peer is to see. The server has
 * checked the request's `_meta`. It adds `resultType: 'complete'` and the server's info to a result without them.
 */
export type ExtensionMethod = (request: RpcRequest, call: Call) => JsonObject | Promise<JsonObject>

/** The members that a list of extensions adds to a server. */
export type ServerApis<Extensions extends readonly ServerExtension[]> = {
  readonly [E in Extensions[number] as E extends ServerExtension<string, infer Api>
    ? Api extends object
      ? LiteralName<E['name']>
      : never
    : never]: E extends ServerExtension<string, infer Api> ? Api : never
}

/** The name of an extension, where its type is a literal. A name of the type `string` adds no member. */
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

/** Carries types for the compiler. There is no such member at run time. */
export interface TypeCarrier<Types> {
  readonly '~types'?: Types | undefined
}

/**
 * The types of a server's tools and prompts, for clients in other programs: of a server, of its type, or of an
 * interface that extends this. Such an interface keeps declarations and editors' hints short. `unknown` where nothing
 * is known.
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
