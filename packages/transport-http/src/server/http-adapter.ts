import type { JsonObject } from '@x/schema'
import type { MessagePieces } from '@x/schema/internal'

/**
 * A view of an HTTP request that is the same on every platform.
 *
 * `Source` is the platform's own request: `Request` under `httpHandler`, `IncomingMessage` under `nodeHandler`.
 */
export interface RequestView<Source = unknown> {
  /** The HTTP method, in upper case. */
  readonly method: string
  /** The unparsed request target: an absolute URL, or path and query. */
  readonly url: string
  /** The platform's own request, for data that this view lacks, such as a user that middleware has set. */
  readonly source: Source
  /** A header's value by its lower-case name. Values of a repeated header are joined by a comma. */
  header(name: string): string | undefined
  /**
   * Returns the values of a header by its lower-case name, in their order of arrival. On Node each header line is one
   * value, also a line that `header` leaves out, such as a second `Authorization`. On other platforms one value joins
   * all lines.
   */
  headerValues(name: string): readonly string[]
  /** Visits every header by its lower-case name. */
  forEachHeader(visit: (value: string, name: string) => void): void
}

/** A whole HTTP answer: `headers` is flat (name, value, name, value …), a `body` is JSON, whole or in pieces. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: readonly string[]
  readonly body?: string | MessagePieces | undefined
  /** True when the peer should open another connection for its next request, where the platform can say so. */
  readonly hasConnectionClose?: boolean | undefined
}

/**
 * The writer of responses: each function takes the target, a platform's record of the request that is answered. For a
 * target there is either `send` once, or `open`, any number of `write`, and `end`. After the connection has closed or
 * the answer is sent, every function does nothing.
 */
export interface ResponseWriter<Target = unknown> {
  send(target: Target, answer: HttpAnswer): void
  /** Starts an event stream with these headers, flat. */
  open(target: Target, headers: readonly string[]): void
  write(target: Target, text: string): void
  end(target: Target, text: string): void
  /** Bytes that were written and that the peer has not taken yet. */
  countQueuedBytes(target: Target): number
  /** Resolves when the peer has taken all output or the connection has closed. Undefined when no output waits. */
  waitForDrain(target: Target): Promise<void> | undefined
  /** Closes the connection, so that the peer detects an unfinished stream. */
  destroy(target: Target): void
  /** Calls back once when the connection has closed or the answer is sent. */
  onClose(target: Target, run: () => void): void
}

/**
 * An HTTP error that is sent before a call exists. Its body is a JSON-RPC error without an id.
 */
export interface HttpErrorResponse {
  /** The HTTP status, such as 401. */
  readonly status: number
  /** The fault and its remedy. The peer sees it. */
  readonly message: string
  /** The JSON-RPC code. `errorCodes.invalidRequest` when absent. */
  readonly code?: number | undefined
  /** The reason in a form for programs. The peer sees it. */
  readonly data?: JsonObject | undefined
  /** Headers to send along, such as `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Counts the bytes of one body while it arrives. */
export interface ArrivingBody {
  /** Counts a body of so many bytes so far. Returns the rejection of a body for which there is no room. */
  grow(receivedBytes: number): HttpErrorResponse | undefined
  /** Releases the bytes, once the body is parsed or its connection has closed. */
  release(): void
}

/** Takes bytes of a finished answer that its client has not read. Returns undefined when the caller has too many. */
export type TakeUnreadBytes = (bytes: number) => (() => void) | undefined

/** The bounds of a body that arrives. */
export interface BodyBounds {
  readonly maxBytes: number
  /** Counts the body among those of its caller and of all. */
  readonly arrivingBody: ArrivingBody
}

/**
 * The functions that read and answer requests on one platform. `Target` is a platform's record of one request. The
 * functions are the same for all of them, because thousands may be open at once.
 */
export interface HttpAdapter<Source, Target> extends ResponseWriter<Target> {
  createRequestView(target: Target): RequestView<Source>
  /** Reads the body, or returns the rejection of a body that cannot be read. */
  readText(target: Target, bounds: BodyBounds): Promise<string | HttpErrorResponse>
  /** Counts the bytes of the answer that the client has not read. Absent where the platform owns them. */
  countUnread?(target: Target, take: TakeUnreadBytes): void
}
