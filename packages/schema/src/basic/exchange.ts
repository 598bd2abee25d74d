import type { JsonObject, JsonValue } from '@x/core'
import type { RpcNotification, RpcRequest, RpcResponse } from './rpc.ts'

/**
 * A function from a JSON-RPC request to its response. Notifications about it go to `call.notify` while it runs.
 *
 * A server has an exchange, a client uses one, a transport carries one over bytes. A {@link Middleware} wraps one.
 *
 * Protocol errors are answered, never thrown. The promise rejects for local reasons alone: with `call.signal.reason`
 * when the call was cancelled, or with the transport's own error when no answer could be had. Who cancels a call stops
 * waiting for it: an exchange may still be at work, and what it then answers is dropped.
 */
export type Exchange = (request: RpcRequest, call: Call) => Promise<RpcResponse>

/** Wraps an exchange: timing, logging, limits. `use[0]` of a server is the outermost. */
export type Middleware = (next: Exchange) => Exchange

/** The data that accompanies a request and is not in its body. */
export interface Call {
  /** Aborts when the caller no longer wants the answer. The only way to cancel. */
  readonly signal: AbortSignal
  /** The caller, as the transport authenticated it. */
  readonly principal?: Principal | undefined
  /** Values of transports, middleware and extensions, by typed keys. */
  readonly context: CallContext
  /** Takes a message about this request while it runs. After the response it does nothing. */
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

/** The context without a value. */
export const emptyContext: CallContext = { get: () => undefined }

/**
 * Stores the answers and records of a call for a server whose handler runs again from the top. A call with a journal
 * store is never handed off by itself, and each key of its questions is used once in its life.
 */
export interface JournalStore {
  /** The journal as it was when this run of the call began: a beginning and every entry after it, in one object. */
  readonly journal: JsonObject
  /** The answers so far, by the keys of `inputRequests`. */
  readonly responses: JsonObject
  /** Takes what is new. It is kept with the next `commit`, or together with what the call ends in. */
  append(entry: JournalEntry): void
  /**
   * Keeps what was noted, or undefined when nothing was. Work that was done is safe when it resolves, and nothing may
   * be done for the call any more when it rejects: another process has taken it over, or it is to stop.
   */
  commit(): Promise<void> | undefined
}

/**
 * One change of a journal: a member of it or, with a key, a member of a member. A later one takes an earlier one's
 * place.
 */
export interface JournalEntry {
  readonly member: string
  readonly key?: string | undefined
  /** Undefined takes the member away. */
  readonly value: JsonValue | undefined
}

/** Runs calls whose caller does not wait, such as tasks. */
export interface BackgroundRunner {
  /** True when the caller accepts an answer other than the result of the call. */
  readonly accepted: boolean
  /**
   * Takes the call over, with its journal so far. Resolves, once that is durable, with the result that is the answer
   * now. Rejects with the McpError that the caller is to see, as when it is not `accepted`.
   *
   * `id` names the call, its caller and its answers, where its client gave it an idempotency key: what is taken over
   * once is not taken over again, and the answer is the same. `context` is that of the handler's call, with the parts
   * that have to be recorded.
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
 * have some beside its answer. A `Map` is one without that.
 */
export interface CallHeaders {
  get(name: string): string | undefined
  forEach(visit: (value: string, name: string) => void): void
  /**
   * Repeats something of the answer in a header of it, for those on the way who do not read the body. Without effect
   * once the head of the answer has been sent. Throws a `TypeError` for a name that does not begin with `Mcp-`, and for
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
  /** When what proves the caller ends, in milliseconds since 1970. Responses that last are ended then. */
  readonly expiresAt?: number | undefined
  /** Other facts that the transport knows of the caller. Never sent anywhere. */
  readonly claims?: JsonObject | undefined
}
