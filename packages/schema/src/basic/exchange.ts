import type { JsonObject } from './json.ts'
import type { RpcNotification, RpcRequest, RpcResponse } from './rpc.ts'

/**
 * One request in, exactly one response out; notifications about it go to `call.notify` while it runs.
 *
 * A server is an exchange, a client uses one, a transport carries one over bytes. What goes around a call
 * (timing, logging, limits) is a function from exchange to exchange.
 *
 * Protocol errors are answered, never thrown. The promise rejects for local reasons alone: with `call.signal.reason`
 * when the call was cancelled, or with the transport's own error when no answer could be had. Who cancels a call stops
 * waiting for it: an exchange may still be at work, and what it then answers is dropped.
 */
export type Exchange = (request: RpcRequest, call: Call) => Promise<RpcResponse>

/** What comes with a request and is not in its body. */
export interface Call {
  /** Aborts when the caller no longer wants the answer; the only way to cancel. */
  readonly signal: AbortSignal
  /** Who asks, as the transport authenticated them. */
  readonly principal?: Principal | undefined
  /**
   * The arguments that HTTP headers repeat, by the name after `Mcp-Param-`, still encoded. A client gives what it wants
   * sent, a transport with headers gives what came. Absent on a transport without headers
   * (basic/transports/streamable-http, custom headers from tool parameters).
   */
  readonly mirrored?: MirroredHeaders | undefined
  /** Whether a retry of this call may reach another instance, as one over HTTP does behind a balancer. */
  readonly movable?: boolean | undefined
  /** Takes a message about this request while it runs; after the response it does nothing. */
  notify(message: RpcNotification): void
  /**
   * Undefined while the peer takes what it is sent; otherwise a promise that resolves when it has caught up, or has gone.
   * Who has much to say waits for it and says only what is still new then. Absent where nobody can tell.
   */
  drained?(): Promise<void> | undefined
}

/** Header values by name, case-insensitively where they came over HTTP. A `Map` is one. */
export interface MirroredHeaders {
  get(name: string): string | undefined
  forEach(visit: (value: string, name: string) => void): void
}

/** An authenticated caller. Two principals are the same when `issuer`, `subject` and `client` are. */
export interface Principal {
  /** Who, within the issuer. */
  readonly subject: string
  /** Who vouches for the subject, such as an authorization server's URL. */
  readonly issuer?: string | undefined
  /** The client that acts for the subject. */
  readonly client?: string | undefined
  /** What the caller may do. */
  readonly scopes?: readonly string[] | undefined
  /** When what proves the caller ends, in milliseconds since 1970; responses that last are ended then. */
  readonly expiresAt?: number | undefined
  /** What else the transport knows of the caller; never sent anywhere. */
  readonly claims?: JsonObject | undefined
}
