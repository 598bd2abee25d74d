import type { Clock } from '@x/core'
import type { Call, CallContext, Principal } from '../call/exchange.ts'
import type { RpcNotification, RpcRequest, RpcResponse, WireError, ParseBounds } from '@x/schema'

/**
 * The adapters of a server for other protocol revisions. A transport offers a request to its adapter before it rejects
 * the request.
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
  /** Returns the value of the header with a lower-case name. */
  header(name: string): string | undefined
}

/** Handles HTTP requests of other revisions, after the transport has checked them. */
export interface HttpProtocolAdapter {
  /** The revisions that the adapter serves, newest first. The transport lists them in its errors. */
  readonly revisions?: readonly string[] | undefined
  /**
   * The HTTP methods other than POST that the adapter handles. The transport lists them in `Allow` and in CORS headers.
   */
  readonly methods: readonly string[]
  /** The response headers that web pages may read. The transport lists them in CORS headers. */
  readonly exposedHeaders: readonly string[]
  /**
   * Returns true if the adapter may handle the request. The transport calls it for every request, so that it should
   * read at most one header.
   */
  matches(head: RequestHead): boolean
  /**
   * Handles the request and returns true. Returns false for a request that it does not handle. The transport then
   * treats the request as one of this revision.
   */
  handle(request: HttpRequestView): boolean | Promise<boolean>
}

/** A request whose host, origin, media types, size and principal the transport has checked. */
export interface HttpRequestView extends RequestHead {
  /**
   * The body. Empty for a method without a body. An adapter that keeps the view after it has parsed the body sets this
   * to an empty string, to free memory.
   */
  bodyText: string
  readonly principal: Principal | undefined
  /** The context for the calls that the adapter makes. It contains the transport and the address of the client. */
  readonly context: CallContext
  readonly limits: HttpLimits
  readonly reply: HttpReply
  /**
   * Returns the HTTP status and headers that the program configured for an error, such as 403 with a challenge for a
   * missing scope. Returns undefined for the default status and headers.
   */
  toHttpError?(error: WireError): HttpErrorHead | undefined
}

/** The HTTP status and the headers of a response with a JSON-RPC error. */
export interface HttpErrorHead {
  /** The status, from 400 up. */
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The limits of a transport. Its adapter observes them too. */
export interface HttpLimits {
  /** The size limits of a message. */
  readonly bounds: ParseBounds
  /** The time limit of a handler in milliseconds. `Infinity` means no limit. */
  readonly timeoutMs: number
  /**
   * Milliseconds without output after which a response becomes an event stream, and an event stream sends a comment.
   * `Infinity` means never.
   */
  readonly keepAliveMs: number
  /** The number of bytes that may wait for a slow reader. */
  readonly maxQueuedBytes: number
  /** Runs a function once after a delay in milliseconds. The returned function cancels the timer. */
  schedule(run: () => void, ms: number): () => void
  /** Reports a failure to the program. The peer must not see its cause. */
  onError(error: unknown): void
}

/**
 * The response to one HTTP request. An adapter calls `send` once, or it calls `open`, then `write` any number of times,
 * then `end`. Later calls have no effect.
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
  /** Returns the number of written bytes that the peer has not read yet. */
  countQueuedBytes(): number
  /**
   * Returns undefined if no bytes wait. Otherwise returns a promise that resolves when the peer has read the written
   * bytes or has disconnected.
   */
  waitForDrain(): Promise<void> | undefined
  /** Calls `run` once, when the peer has disconnected or the response is complete. */
  onClose(run: () => void): void
  /**
   * Calls `run` when the transport stops: with `draining` when the stop begins, and with `closing` when the time that
   * running calls have to finish is over.
   */
  onStop(run: (phase: 'draining' | 'closing') => void): void
}

/** Handles the messages of other revisions that arrive over a pair of streams. */
export interface StreamProtocolAdapter {
  /** Creates the adapter's handler for one pair of streams. The transport calls it once for each pair. */
  connect(peer: StreamPeer): StreamConnection
}

/** The other end of a pair of streams. */
export interface StreamPeer {
  readonly principal: Principal | undefined
  /**
   * The context for calls that the adapter makes without a request of the peer. It contains the transport and the
   * address of the client.
   */
  readonly context: CallContext
  readonly clock: Clock
  /**
   * Sends a notification that is not about a call. Returns false if the notification was dropped because the peer reads
   * too slowly.
   */
  notify(message: RpcNotification): boolean
  /** Reports a failure to the program. The peer must not see its cause. */
  onError(error: unknown): void
}

/** Handles the messages on one pair of streams for an adapter. */
export interface StreamConnection {
  /** Returns the handler of a request, or undefined for a request of this revision, which the transport handles. */
  handlerFor(request: RpcRequest): StreamHandler | undefined
  /** Receives every response and notification of the peer, and ignores those of this revision. */
  receive(message: RpcResponse | RpcNotification): void
  /** Releases the resources of the connection. */
  close(): void
}

/**
 * Serves one request. `sendRequest` sends a request to the peer while the call runs. After the response it does
 * nothing.
 */
export type StreamHandler = (
  request: RpcRequest,
  call: Call,
  sendRequest: (request: RpcRequest) => void,
) => Promise<RpcResponse>
