import type { HttpErrorResponse, Platform } from '@x/exchange'
import type { MessagePieces } from '@x/schema/internal'

/**
 * An HTTP request, seen alike on every platform.
 *
 * `Source` is the platform's own type of request: `Request` for `httpHandler`, `IncomingMessage` for `nodeHandler`.
 */
export interface RequestView<Source = unknown> {
  /** HTTP method, in upper case. */
  readonly method: string
  /** Unparsed request target: an absolute URL, or a path with a query. */
  readonly url: string
  /** The platform's request object, for data that this view does not have, such as a user that middleware has set. */
  readonly source: Source
  /** What the platform gave with the request. Undefined on Node, and if it gave nothing. */
  readonly platform?: Platform | undefined
  /** Reads a header by its name in lower case. Values of a repeated header are joined with commas. */
  header(name: string): string | undefined
  /**
   * Reads all values of a header by its name in lower case, in their order of arrival. On Node each header line is one
   * value, even a line that `header` ignores, such as a second `Authorization`. On other platforms all lines are joined
   * to one value.
   */
  headerValues(name: string): readonly string[]
  /** Visits every header. Names are in lower case. */
  forEachHeader(visit: (value: string, name: string) => void): void
}

/**
 * A complete HTTP answer. `headers` contains alternating names and values. `body` is JSON, as one text or in pieces.
 */
export interface HttpAnswer {
  readonly status: number
  readonly headers: readonly string[]
  readonly body?: string | MessagePieces | undefined
  /**
   * True if the client should use a new connection for its next request. Ignored on platforms that cannot express this.
   */
  readonly hasConnectionClose?: boolean | undefined
}

/**
 * Writes the answers to requests. Each function first takes the target, which is the platform's record of the request.
 * For each target, call either `send` once, or `open`, then `write` any number of times, then `end`. After the
 * connection has closed or the answer is sent, all functions do nothing.
 */
export interface ResponseWriter<Target = unknown> {
  send(target: Target, answer: HttpAnswer): void
  /** Starts an event stream. `headers` contains alternating names and values. */
  open(target: Target, headers: readonly string[]): void
  write(target: Target, text: string): void
  end(target: Target, text: string): void
  /** Bytes that were written and that the client has not yet read. */
  countQueuedBytes(target: Target): number
  /**
   * Resolves when the client has read all output, or when the connection has closed. Undefined if no output is waiting.
   */
  waitForDrain(target: Target): Promise<void> | undefined
  /** Closes the connection, so that the client detects that the stream is incomplete. */
  destroy(target: Target): void
  /** Calls `run` once, when the connection has closed or the answer is sent. */
  onClose(target: Target, run: () => void): void
}

/** Limits one body, and counts its bytes for its caller and for all callers while it arrives. */
export interface ArrivingBody {
  readonly maxBytes: number
  /** Counts what has arrived so far. If a limit is reached, returns the response that rejects the body. */
  grow(receivedBytes: number): HttpErrorResponse | undefined
  /** Releases the counted bytes, when the body is parsed or its connection has closed. */
  release(): void
}

/**
 * Counts bytes of a finished answer that the client has not read, and returns a function that releases them. Undefined
 * if the caller has reached its limit.
 */
export type TakeUnreadBytes = (bytes: number) => (() => void) | undefined

/**
 * Reads and answers requests on one platform. `Target` is the platform's record of one request. All requests share
 * these functions, because thousands of requests may be open at once.
 */
export interface HttpAdapter<Source, Target> extends ResponseWriter<Target> {
  createRequestView(target: Target): RequestView<Source>
  /** Reads the body. If that fails, returns the response that rejects it. */
  readText(target: Target, body: ArrivingBody): Promise<string | HttpErrorResponse>
  /** Sets what counts the unread bytes of the answer. Absent on platforms that do not report them. */
  countUnread?(target: Target, take: TakeUnreadBytes): void
}
