import type { JsonObject, JsonValue } from '@x/core'
import type { RpcNotification, RpcRequest, RpcResponse } from './rpc.ts'

/**
 * A function from a JSON-RPC request to its response. Notifications about it go to `call.notify` while it runs.
 *
 * A server has an exchange, a client uses one, a transport carries one over bytes. A {@link Middleware} wraps one.
 *
 * Protocol errors are answered, never thrown. The promise rejects for local reasons alone: with `call.signal.reason`
 * when the call was cancelled, or with the transport's own error when no answer arrived. A caller that cancels a call
 * stops waiting: the exchange may still run, and its late answer is dropped.
 */
export type Exchange = (request: RpcRequest, call: Call) => Promise<RpcResponse>

/** Wraps an exchange: timing, logging, limits. `use[0]` of a server is the outermost. */
export type Middleware = (next: Exchange) => Exchange

/** The data that accompanies a request and is not in its body. */
export interface Call {
  /** Aborts when the caller no longer wants the answer. A call is cancelled in no other way. */
  readonly signal: AbortSignal
  /** The caller, as the transport authenticated it. */
  readonly principal?: Principal | undefined
  /** Values of transports, middleware and extensions, by typed keys. */
  readonly context: CallContext
  /** Sends a notification about this request to the caller. Does nothing after the response. */
  notify(message: RpcNotification): void
}

declare const valueType: unique symbol

/**
 * Names one value of a call's context, and its type. Keys of the same name are the same key, also from two copies of a
 * package.
 */
export interface ContextKey<T> {
  readonly id: symbol
  readonly [valueType]?: T
}

/**
 * Data that accompanies a call and is not in its request. It never changes. `withContext` makes a call with one more
 * value.
 */
export interface CallContext {
  /** Returns the value of a key, or undefined when it is not set. */
  get<T>(key: ContextKey<T>): T | undefined
}

/**
 * Makes a key. Create it once, at module level, and give it a name with the prefix of its package or domain.
 *
 * @example
 * const tenantKey = contextKey<string>('com.example/tenant')
 */
export function contextKey<T>(name: string): ContextKey<T> {
  return { id: Symbol.for(`x.context ${name}`) }
}

/** The context that has no values. */
export const emptyContext: CallContext = { get: () => undefined }

/**
 * Stores the answers and records of a call for a server whose handler runs again from the top. A call with a journal
 * store is never handed off by itself, and each key of its questions is used once in its life.
 */
export interface JournalStore {
  /** The journal when this run of the call began, with every entry of earlier runs. */
  readonly journal: JsonObject
  /** The answers so far, by the keys of `inputRequests`. */
  readonly responses: JsonObject
  /** Adds an entry. It becomes durable with the next `commit`, or together with the result of the call. */
  append(entry: JournalEntry): void
  /**
   * Makes the added entries durable. Returns undefined when there are none. After a rejection the handler must not
   * continue the call: another process has taken it over, or it has to stop.
   */
  commit(): Promise<void> | undefined
}

/**
 * One change of a journal: the new value of a member or, with a key, of a key within that member. A later entry
 * replaces an earlier one of the same place.
 */
export interface JournalEntry {
  readonly member: string
  readonly key?: string | undefined
  /** The new value. Undefined removes the member. */
  readonly value: JsonValue | undefined
}

/** Runs calls whose caller does not wait, such as tasks. */
export interface BackgroundRunner {
  /** True when the caller accepts an answer other than the result of the call. */
  readonly accepted: boolean
  /**
   * Continues the call in the background, with its journal so far. Resolves with the answer to the caller once the
   * journal is durable. Rejects with the `McpError` for the caller, as when `accepted` is false.
   *
   * `id` names the call, its caller and its answers, where the client gave an idempotency key: a second call with this
   * id gets the answer of the first, and runs nothing. `context` is the context of the handler's call, with the parts
   * to record.
   */
  begin(journal: JsonObject, id?: string, context?: CallContext): Promise<JsonObject>
}

/** Header values by name, case-insensitively where they came over HTTP. A `Map` is one. */
export interface HeaderParams {
  get(name: string): string | undefined
  forEach(visit: (value: string, name: string) => void): void
}

/**
 * The `Mcp-*` headers of a request by their whole names, case-insensitively where they came over HTTP, and a way to
 * add headers to the response. A `Map` is such an object without that way.
 */
export interface CallHeaders {
  get(name: string): string | undefined
  forEach(visit: (value: string, name: string) => void): void
  /**
   * Adds a header to the response, for proxies that do not read the body. Has no effect once the head of the response
   * has been sent. Throws a `TypeError` for a name that does not begin with `Mcp-`, and for
   * a value that is not visible ASCII.
   */
  setResponseHeader?(name: string, value: string): void
}

/** An authenticated caller. Two principals are the same when `issuer`, `subject` and `client` are. */
export interface Principal {
  /** The caller's identifier, unique within the issuer. */
  readonly subject: string
  /** The authority for the subject, such as an authorization server's URL. */
  readonly issuer?: string | undefined
  /** The client that acts for the subject. */
  readonly client?: string | undefined
  /** The scopes granted to the caller. */
  readonly scopes?: readonly string[] | undefined
  /** The expiry of the caller's credential, in milliseconds since 1970. Open streams end at that time. */
  readonly expiresAt?: number | undefined
  /** Other facts that the transport knows of the caller. Never sent anywhere. */
  readonly claims?: JsonObject | undefined
}
