import type { Clock, Log } from '@x/core'
import type { Call, CallContext, Principal } from '../call/exchange.ts'
import type { RpcNotification, RpcRequest, RpcResponse, WireError, ParseBounds } from '@x/schema'
import type { HttpErrorHead } from '../errors/http-errors.ts'

/**
 * A server's adapters for other protocol revisions. A transport offers a request to its adapter before it rejects the
 * request.
 */
export interface ProtocolAdapters {
  /** For transports over HTTP. */
  readonly http?: HttpProtocolAdapter | undefined
  /** For transports over a pair of streams, such as stdio. */
  readonly stream?: StreamProtocolAdapter | undefined
}

/** Head of an HTTP request. */
export interface RequestHead {
  /** HTTP method, in upper case. */
  readonly method: string
  /** A header by its name in lower case. */
  header(name: string): string | undefined
}

/** Handles HTTP requests of other revisions, after the transport has checked them. */
export interface HttpProtocolAdapter {
  /** Revisions that the adapter serves, newest first. The transport lists them in its errors. */
  readonly revisions?: readonly string[] | undefined
  /** HTTP methods other than POST that the adapter handles. The transport lists them in `Allow` and in CORS headers. */
  readonly methods: readonly string[]
  /** Response headers that web pages may read. The transport lists them in CORS headers. */
  readonly exposedHeaders: readonly string[]
  /** True if the adapter may handle the request. Asked for every request, so it should read at most one header. */
  matches(head: RequestHead): boolean
  /**
   * Handles the request and returns true, or returns false. The transport then takes the request for one of this
   * revision.
   */
  handle(request: HttpRequestView): boolean | Promise<boolean>
}

/** A request whose host, origin, media types, size and principal the transport has checked. */
export interface HttpRequestView extends RequestHead {
  /**
   * Empty for a method without a body. An adapter that keeps the view after it has parsed the body sets this to an
   * empty string, to free memory.
   */
  bodyText: string
  readonly principal: Principal | undefined
  /** For the calls that the adapter makes: has the transport and the address of the client. */
  readonly context: CallContext
  readonly limits: HttpLimits
  readonly reply: HttpReply
  /**
   * HTTP status and headers that the program configured for an error, such as 403 with a challenge for a missing scope.
   * Undefined for the defaults. Called for each error, also of a batch or on an event stream, where only its log
   * matters. `request` is the one that failed, if there is one.
   */
  toHttpError?(error: WireError, request?: RpcRequest): HttpErrorHead | undefined
}

/** Limits of a transport, which its adapter observes too. */
export interface HttpLimits {
  /** Size limits of a message. */
  readonly bounds: ParseBounds
  /** Time limit of a handler in milliseconds. `Infinity` means none. */
  readonly timeoutMs: number
  /**
   * Milliseconds without output after which a response becomes an event stream, and an event stream sends a comment.
   * `Infinity` means never.
   */
  readonly keepAliveMs: number
  /** Bytes that may wait for a slow reader. */
  readonly maxQueuedBytes: number
  /** Runs a function once, after a delay in milliseconds. The returned function cancels the timer. */
  schedule(run: () => void, ms: number): () => void
  /** Reports a failure to the program. The peer must not see its cause. */
  onError(error: unknown): void
  /** Log of the server. */
  readonly log: Log
}

/**
 * Answers one HTTP request. An adapter calls `send` once, or `open`, then `write` any number of times, then `end`.
 * Later calls have no effect.
 */
export interface HttpReply {
  /** Sends a whole response. `headers` is a flat list of names and values in turn. `body` is JSON text. */
  send(answer: { readonly status: number; readonly headers?: readonly string[]; readonly body?: string }): void
  /**
   * Starts an event stream. While the adapter writes nothing, the transport sends comments to keep the connection open.
   */
  open(headers?: readonly string[]): void
  write(text: string): void
  end(): void
  /** Written bytes that the peer has not read yet. */
  countQueuedBytes(): number
  /** Undefined if no bytes wait. Otherwise a promise that resolves when the peer has read them or has disconnected. */
  waitForDrain(): Promise<void> | undefined
  /** Calls `run` once, when the peer has disconnected or the response is complete. */
  onClose(run: () => void): void
  /**
   * Calls `run` when the transport stops: with `draining` when that begins, and with `closing` when the time that
   * running calls have to finish is over.
   */
  onStop(run: (phase: 'draining' | 'closing') => void): void
}

/** Handles messages of other revisions that arrive over a pair of streams. */
export interface StreamProtocolAdapter {
  /** Makes the adapter's handler for one pair of streams. Called once for each. */
  connect(peer: StreamPeer): StreamConnection
}

/** The other end of a pair of streams. */
export interface StreamPeer {
  readonly principal: Principal | undefined
  /**
   * For calls that the adapter makes without a request of the peer: has the transport and the address of the client.
   */
  readonly context: CallContext
  readonly clock: Clock
  /** Sends a notification that is not about a call. False if it was dropped because the peer reads too slowly. */
  notify(message: RpcNotification): boolean
  /** Reports a failure to the program. The peer must not see its cause. */
  onError(error: unknown): void
}

/** Handles the messages on one pair of streams for an adapter. */
export interface StreamConnection {
  /** Undefined for a request of this revision, which the transport handles. */
  handlerFor(request: RpcRequest): StreamHandler | undefined
  /** Receives every response and notification of the peer, and ignores those of this revision. */
  receive(message: RpcResponse | RpcNotification): void
  /** Releases the resources of the connection. */
  close(): void
}

/**
 * Serves one request. `sendRequest` sends a request to the peer while the call runs, and does nothing after the
 * response.
 */
export type StreamHandler = (
  request: RpcRequest,
  call: Call,
  sendRequest: (request: RpcRequest) => void,
) => Promise<RpcResponse>
