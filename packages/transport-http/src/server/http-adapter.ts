import type { Platform } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import type { MessagePieces } from '@x/schema/internal'

/**
 * A view of an HTTP request that is the same on every platform.
 *
 * `Source` is the request type of the platform: `Request` for `httpHandler`, `IncomingMessage` for `nodeHandler`.
 */
export interface RequestView<Source = unknown> {
  /** The HTTP method, in upper case. */
  readonly method: string
  /** The unparsed request target: an absolute URL, or a path with a query. */
  readonly url: string
  /**
   * The request object of the platform, for data that this view does not have, such as a user that middleware has set.
   */
  readonly source: Source
  /** The values that the platform gave with the request. Undefined on Node, and without such values. */
  readonly platform?: Platform | undefined
  /**
   * Returns the value of a header by its name in lower case. The values of a repeated header are joined with commas.
   */
  header(name: string): string | undefined
  /**
   * Returns the values of a header by its name in lower case, in their order of arrival. On Node each header line is
   * one value, even a line that `header` ignores, such as a second `Authorization`. On other platforms all lines are
   * joined to one value.
   */
  headerValues(name: string): readonly string[]
  /** Calls `visit` for every header. Names are in lower case. */
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
 * Writes the answers to requests. The first parameter of each function is the target, which is the platform's record of
 * the request. For each target, call either `send` once, or `open`, then `write` any number of times, then `end`. All
 * functions do nothing after the connection has closed or the answer is sent.
 */
export interface ResponseWriter<Target = unknown> {
  send(target: Target, answer: HttpAnswer): void
  /** Starts an event stream. `headers` contains alternating names and values. */
  open(target: Target, headers: readonly string[]): void
  write(target: Target, text: string): void
  end(target: Target, text: string): void
  /** Returns the number of bytes that were written and that the client has not yet read. */
  countQueuedBytes(target: Target): number
  /**
   * Resolves when the client has read all output, or when the connection has closed. Returns undefined if no output is
   * waiting.
   */
  waitForDrain(target: Target): Promise<void> | undefined
  /** Closes the connection, so that the client detects that the stream is incomplete. */
  destroy(target: Target): void
  /** Calls `run` once, when the connection has closed or the answer is sent. */
  onClose(target: Target, run: () => void): void
}

/** An HTTP response that rejects a request before a call exists. Its body is a JSON-RPC error without an id. */
export interface HttpErrorResponse {
  /** The HTTP status, such as 401. */
  readonly status: number
  /** The error and its remedy. The client receives it. */
  readonly message: string
  /** The JSON-RPC error code. Default: `errorCodes.invalidRequest`. */
  readonly code?: number | undefined
  /** The reason in a machine-readable form. The client receives it. */
  readonly data?: JsonObject | undefined
  /** Additional headers, such as `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Counts the bytes of one body while it arrives. */
export interface ArrivingBody {
  /** Counts the bytes that have arrived so far. Returns the response that rejects the body if a limit is reached. */
  grow(receivedBytes: number): HttpErrorResponse | undefined
  /** Releases the counted bytes. Called when the body is parsed or its connection has closed. */
  release(): void
}

/**
 * Counts bytes of a finished answer that the client has not read. Returns a function that releases them. Returns
 * undefined if the caller has reached its limit.
 */
export type TakeUnreadBytes = (bytes: number) => (() => void) | undefined

/** The limits for a body that arrives. */
export interface BodyBounds {
  readonly maxBytes: number
  /** Counts the bytes of this body for its caller and for all callers. */
  readonly arrivingBody: ArrivingBody
}

/**
 * The functions that read and answer requests on one platform. `Target` is the platform's record of one request. All
 * requests share these functions, because thousands of requests may be open at once.
 */
export interface HttpAdapter<Source, Target> extends ResponseWriter<Target> {
  createRequestView(target: Target): RequestView<Source>
  /** Reads the body. If the body cannot be read, returns the response that rejects it. */
  readText(target: Target, bounds: BodyBounds): Promise<string | HttpErrorResponse>
  /**
   * Sets the function that counts the unread bytes of the answer. Absent on platforms that do not report unread bytes.
   */
  countUnread?(target: Target, take: TakeUnreadBytes): void
}
