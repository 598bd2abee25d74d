import type { JsonObject, JsonValue } from '@x/core'
import type { RpcNotification, RpcRequest, RpcResponse } from '@x/schema'

/**
 * Answers a JSON-RPC request. Until the response, notifications about the request may go to `call.notify`.
 *
 * A server has an exchange, a client sends its requests to one, and a transport connects the two over a network or a
 * pair of streams. A {@link Middleware} wraps an exchange.
 *
 * A protocol error is a response, and is never thrown. The promise rejects only for local reasons: with
 * `call.signal.reason` when the call was cancelled, or with the transport's error when no response arrived. A caller
 * that cancels stops waiting; the exchange may still run, and its late response is dropped.
 */
export type Exchange = (request: RpcRequest, call: Call) => Promise<RpcResponse>

/**
 * Wraps an exchange, for example to measure time, to log, or to limit calls. In `use` of a server, the first is the
 * outermost.
 */
export type Middleware = (next: Exchange) => Exchange

/** What accompanies a request and is not in its body. */
export interface Call {
  /** Aborts when the caller no longer wants the response. There is no other way to cancel a call. */
  readonly signal: AbortSignal
  /** Who calls, as the transport authenticated it. */
  readonly principal?: Principal | undefined
  /** Values that transports, middleware and extensions added to the call, by typed keys. */
  readonly context: CallContext
  /** Sends a notification about this request to the caller. Does nothing after the response. */
  notify(message: RpcNotification): void
}

declare const valueType: unique symbol

/**
 * Name and type of one value in a call's context. Two keys with the same name are equal, even from two copies of a
 * package.
 */
export interface ContextKey<T> {
  readonly id: symbol
  readonly [valueType]?: T
}

/**
 * Data that accompanies a call. A context never changes: `withContext` makes a call whose context has one more value.
 */
export interface CallContext {
  /** Undefined if the key is not set. */
  get<T>(key: ContextKey<T>): T | undefined
}

/**
 * Makes a key for the context of calls. Create each one once, at module level, and begin its name with the prefix of
 * your package or domain.
 *
 * @example
 * const tenantKey = contextKey<string>('com.example/tenant')
 */
export function contextKey<T>(name: string): ContextKey<T> {
  return { id: Symbol.for(`x.context ${name}`) }
}

export const emptyContext: CallContext = { get: () => undefined }

/**
 * Keeps the journal of a call: the client's answers and the results of steps, with which the handler can run again from
 * the top. A call with a journal store is never handed off through its client, and uses each key of `inputRequests`
 * only once.
 */
export interface JournalStore {
  /** The journal when this run began, with the entries of all earlier runs. */
  readonly journal: JsonObject
  /** The client's answers so far, by the keys of `inputRequests`. */
  readonly responses: JsonObject
  /** Adds an entry, which becomes durable with the next `commit` or with the result of the call. */
  append(entry: JournalEntry): void
  /**
   * Makes the added entries durable; undefined if there are none. A rejection means that another process has taken over
   * the call, or that the call must stop: the handler must not continue it. `next` is given before the work of a step
   * that is not recorded, so that a rejection stops the call before that work.
   */
  commit(next?: { readonly step: string }): Promise<void> | undefined
}

/**
 * One change of a journal: sets a member, or with `key` one key within it. A later entry with the same member and key
 * replaces an earlier one.
 */
export interface JournalEntry {
  readonly member: string
  readonly key?: string | undefined
  /** Undefined removes the member, or with `key` the key. */
  readonly value: JsonValue | undefined
}

/** Continues a call in the background, for example as a task, so that its caller does not wait. */
export interface BackgroundRunner {
  /** True if the caller accepts another answer than the call's result, such as a task. */
  readonly accepted: boolean
  /**
   * Continues the call in the background, with its journal so far. Resolves with the answer for the caller once the
   * journal is durable. Rejects with an `McpError` for the caller, for example when `accepted` is false.
   *
   * `id` is given if the client sent an idempotency key, and identifies the call, its caller and its answers: a second
   * call with the same id gets the answer of the first, and runs nothing. `context` is that of the call which the
   * handler received, with the parts of the call to store.
   */
  begin(journal: JsonObject, id?: string, context?: CallContext): Promise<JsonObject>
}

/**
 * `Mcp-*` headers of a request by their full names, which ignore case over HTTP, and a function that adds headers to
 * the response. A `Map` is one too, without the function.
 */
export interface CallHeaders {
  get(name: string): string | undefined
  forEach(visit: (value: string, name: string) => void): void
  /**
   * Adds a header to the response, for proxies that do not read the body. No effect once the head of the response was
   * sent. Throws a `TypeError` for a name that does not begin with `Mcp-`, and for a value that is not visible ASCII.
   */
  setResponseHeader?(name: string, value: string): void
}

/** An authenticated caller. Two principals are the same if `issuer`, `subject` and `client` are equal. */
export interface Principal {
  /** Identifies the caller within the issuer. */
  readonly subject: string
  /** Authority for the subject, such as an authorization server's URL. */
  readonly issuer?: string | undefined
  /** Identifier of the client that acts for the subject. */
  readonly client?: string | undefined
  /** Scopes granted to the caller. */
  readonly scopes?: readonly string[] | undefined
  /** When the caller's credential expires, in milliseconds since 1970. Open streams end then. */
  readonly expiresAt?: number | undefined
  /** What else the transport knows of the caller. Never sent. */
  readonly claims?: JsonObject | undefined
}
