import type { JsonObject, JsonValue } from '@x/core'
import type { RpcNotification, RpcRequest, RpcResponse } from '@x/schema'

/**
 * Answers a JSON-RPC request. Before the response, it may send notifications about the request to `call.notify`.
 *
 * A server has an exchange that answers requests. A client sends its requests to an exchange. A transport connects the
 * two over a network or a pair of streams. A {@link Middleware} wraps an exchange.
 *
 * A protocol error is a response, and is never thrown. The promise rejects only for local reasons: with
 * `call.signal.reason` when the call was cancelled, or with the transport's error when no response arrived. A caller
 * that cancels a call stops waiting. The exchange may still run, and its late response is dropped.
 */
export type Exchange = (request: RpcRequest, call: Call) => Promise<RpcResponse>

/**
 * Wraps an exchange, for example to measure time, to log, or to limit calls. The first middleware in `use` of a server
 * is the outermost.
 */
export type Middleware = (next: Exchange) => Exchange

/** The data that accompanies a request and is not in its body. */
export interface Call {
  /** A signal that aborts when the caller no longer wants the response. There is no other way to cancel a call. */
  readonly signal: AbortSignal
  /** The caller, as the transport authenticated it. */
  readonly principal?: Principal | undefined
  /** The values that transports, middleware and extensions added to the call, by typed keys. */
  readonly context: CallContext
  /** Sends a notification about this request to the caller. Does nothing after the response. */
  notify(message: RpcNotification): void
}

declare const valueType: unique symbol

/**
 * The name and the type of one value in a call's context. Two keys with the same name are equal, even if they come from
 * two copies of a package.
 */
export interface ContextKey<T> {
  readonly id: symbol
  readonly [valueType]?: T
}

/**
 * Data that accompanies a call and is not in its request. A context never changes. `withContext` creates a call whose
 * context has one more value.
 */
export interface CallContext {
  /** Returns the value of a key, or undefined when it is not set. */
  get<T>(key: ContextKey<T>): T | undefined
}

/**
 * Creates a key for the context of calls. Create each key once, at module level, and begin its name with the prefix of
 * your package or domain.
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
 * Stores the journal of a call, which contains the client's answers and the results of steps. With the journal, the
 * handler can run again from the top. A call with a journal store is never handed off through its client, and it uses
 * each key of `inputRequests` only once.
 */
export interface JournalStore {
  /** The journal at the beginning of this run, with the entries of all earlier runs. */
  readonly journal: JsonObject
  /** The client's answers so far, by the keys of `inputRequests`. */
  readonly responses: JsonObject
  /** Adds an entry. It becomes durable with the next `commit`, or together with the result of the call. */
  append(entry: JournalEntry): void
  /**
   * Makes the added entries durable. Returns undefined if no entries were added. A rejection means that another process
   * has taken over the call, or that the call must stop. The handler must not continue the call then. `next` is given
   * before the work of a step that is not recorded: a rejection stops the call before that work.
   */
  commit(next?: { readonly step: string }): Promise<void> | undefined
}

/**
 * One change of a journal. It sets a member, or with `key` it sets one key within a member. A later entry replaces an
 * earlier entry with the same member and key.
 */
export interface JournalEntry {
  readonly member: string
  readonly key?: string | undefined
  /** The new value. Undefined removes the member, or with `key` the key. */
  readonly value: JsonValue | undefined
}

/** Continues a call in the background, for example as a task, so that its caller does not wait. */
export interface BackgroundRunner {
  /** True if the caller accepts an answer other than the result of the call, such as a task. */
  readonly accepted: boolean
  /**
   * Continues the call in the background, with its journal so far. Resolves with the answer for the caller once the
   * journal is durable. Rejects with an `McpError` for the caller, for example when `accepted` is false.
   *
   * `id` is given if the client sent an idempotency key. It identifies the call, its caller and its answers. A second
   * call with the same id gets the answer of the first call, and runs nothing. `context` is the context of the call
   * that the handler received. It contains the parts of the call to store.
   */
  begin(journal: JsonObject, id?: string, context?: CallContext): Promise<JsonObject>
}

/**
 * The `Mcp-*` headers of a request by their full names, and a function that adds headers to the response. The names of
 * headers that came over HTTP are case-insensitive. A `Map` implements this interface without the function.
 */
export interface CallHeaders {
  get(name: string): string | undefined
  forEach(visit: (value: string, name: string) => void): void
  /**
   * Adds a header to the response, for proxies that do not read the body. Has no effect after the head of the response
   * was sent. Throws a `TypeError` for a name that does not begin with `Mcp-`, and for a value that is not visible
   * ASCII.
   */
  setResponseHeader?(name: string, value: string): void
}

/** An authenticated caller. Two principals are the same if `issuer`, `subject` and `client` are equal. */
export interface Principal {
  /** The caller's identifier, unique within the issuer. */
  readonly subject: string
  /** The authority for the subject, such as an authorization server's URL. */
  readonly issuer?: string | undefined
  /** The identifier of the client that acts for the subject. */
  readonly client?: string | undefined
  /** The scopes granted to the caller. */
  readonly scopes?: readonly string[] | undefined
  /** The expiry of the caller's credential, in milliseconds since 1970. Open streams end at that time. */
  readonly expiresAt?: number | undefined
  /** Other facts that the transport has about the caller. They are never sent. */
  readonly claims?: JsonObject | undefined
}
