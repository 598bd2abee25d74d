import type { Clock } from '@x/core'
import type { Call, CallContext, Principal } from '../basic/exchange.ts'
import type { RpcNotification, RpcRequest, RpcResponse, WireError } from '../basic/rpc.ts'
import type { ParseBounds } from '../messages/scan-text.ts'

/**
 * Protocol revisions that a server accepts beside this one. A transport asks its adapter before it rejects a request.
 */
export interface ProtocolAdapters {
  /** The adapter for transports over HTTP. */
  readonly http?: HttpProtocolAdapter | undefined
  /** The adapter for transports over a pair of streams, such as stdio. */
  readonly stream?: StreamProtocolAdapter | undefined
}

/** The head of an HTTP request. */
export interface RequestHead {
  /** The HTTP method, in upper case. */
  readonly method: string
  /** A header's value by its lower-case name. */
  header(name: string): string | undefined
}

/** Handles HTTP requests of other revisions, behind the checks of the transport. */
export interface HttpProtocolAdapter {
  /** The revisions that the adapter serves, newest first, which the errors of the transport name. */
  readonly revisions?: readonly string[] | undefined
  /** HTTP methods beside POST, for `Allow` and CORS. */
  readonly methods: readonly string[]
  /** Response headers that pages may read, for CORS. */
  readonly exposedHeaders: readonly string[]
  /** Returns true if the adapter may handle the request. Runs for every request, so it reads at most one header. */
  matches(head: RequestHead): boolean
  /** Handles the request, or returns false: the transport then handles (and rejects) it as one of this revision. */
  handle(request: HttpRequestView): boolean | Promise<boolean>
}

/** A request whose host, origin, media types, size and principal the transport has checked. */
export interface HttpRequestView extends RequestHead {
  /** The body, empty for a method that has none. An adapter that has parsed it and keeps the view empties it. */
  bodyText: string
  readonly principal: Principal | undefined
  /** The transport and the address of the client, for the calls that the adapter makes. */
  readonly context: CallContext
  readonly limits: HttpLimits
  readonly reply: HttpReply
  /**
   * Returns the HTTP status and headers that the transport's author wants with an error, such as 403 with a challenge
   * for a scope that is missing, or undefined for the usual ones.
   */
  toHttpError?(error: WireError): HttpErrorHead | undefined
}

/** The HTTP status and the headers of the answer that carries a JSON-RPC error. */
export interface HttpErrorHead {
  /** The status, from 400 up. */
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The limits of a transport, which its adapter observes too. */
export interface HttpLimits {
  /** Bounds of a message. */
  readonly bounds: ParseBounds
  /** The time limit of a handler in milliseconds. `Infinity` means none. */
  readonly timeoutMs: number
  /** Milliseconds without a byte after which a response becomes a stream. `Infinity` means never. */
  readonly keepAliveMs: number
  /** Bytes that may wait for a slow reader. */
  readonly maxQueuedBytes: number
  /** Runs a function once after a delay in milliseconds. The returned function cancels the timer. */
  schedule(run: () => void, ms: number): () => void
  /** Reports a failure whose cause the peer must not see. */
  onError(error: unknown): void
}

/**
 * The response to one HTTP request: `send` once, or `open`, any number of `write`, and `end`. Calls after its end have
 * no effect.
 */
export interface HttpReply {
  /** Sends a whole response. `headers` is flat: name, value, name, value. `body` is JSON. */
  send(answer: { readonly status: number; readonly headers?: readonly string[]; readonly body?: string }): void
  /** Starts an event stream, and keeps it open with comments while nothing is written. */
  open(headers?: readonly string[]): void
  write(text: string): void
  end(): void
  /** Returns the bytes that the peer has not taken yet. */
  countQueuedBytes(): number
  /** Resolves when the peer has read the written bytes or has disconnected. Undefined when no bytes wait. */
  waitForDrain(): Promise<void> | undefined
  /** Calls back once when the peer has disconnected or the response is complete. */
  onClose(run: () => void): void
  /**
   * Calls back when the transport stops: `draining` at its beginning, `closing` at the end of the time that calls have
   * to finish.
   */
  onStop(run: (phase: 'draining' | 'closing') => void): void
}

/** Handles the messages of other revisions that arrive over a pair of streams. */
export interface StreamProtocolAdapter {
  /** Called once for each pair of streams. */
  connect(peer: StreamPeer): StreamConnection
}

/** The other end of a pair of streams. */
export interface StreamPeer {
  readonly principal: Principal | undefined
  /** The transport and the address of the client, for calls that the adapter makes by itself. */
  readonly context: CallContext
  readonly clock: Clock
  /** Sends a notification that belongs to no call. Returns false when the reader is too slow and it was dropped. */
  notify(message: RpcNotification): boolean
  /** Reports a failure whose cause the peer must not see. */
  onError(error: unknown): void
}

/** An adapter's part in one pair of streams. */
export interface StreamConnection {
  /** Returns the handler of the request, or undefined for a request of this revision. */
  handlerFor(request: RpcRequest): StreamHandler | undefined
  /** Receives every response and notification of the peer, and ignores those of this revision. */
  receive(message: RpcResponse | RpcNotification): void
  /** Releases the resources of the connection. */
  close(): void
}

/** Serves one request. `ask` sends a request to the peer while the call runs, and does nothing after it. */
export type StreamHandler = (
  request: RpcRequest,
  call: Call,
  sendRequest: (request: RpcRequest) => void,
) => Promise<RpcResponse>
