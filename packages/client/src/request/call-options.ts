import type { ClientCapabilities, JsonObject, JsonValue, LoggingLevel } from '@x/schema'
import type { InputHandlers } from './input-handlers.ts'
import type { RoundOptions } from './round-options.ts'

/** How far a call is, in units that the server chooses (basic/patterns/progress). */
export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** A log message of one call (server/utilities/logging). */
export interface LogMessage {
  readonly level: LoggingLevel
  readonly logger?: string | undefined
  readonly data: JsonValue
}

/**
 * Options of one call. Handlers given here replace the client's for this call, which then also declares their
 * capabilities.
 */
export interface CallOptions extends InputHandlers {
  /** Cancels the call, which then rejects with `signal.reason`. If it has already aborted, nothing is sent. */
  readonly signal?: AbortSignal | undefined
  /** For the rounds in which the server asks for input. */
  readonly rounds?: RoundOptions | undefined
  /**
   * Milliseconds that each request of the call waits for its response or the next progress notification. With progress,
   * a request can take up to ten times as long. Default: the client's value.
   */
  readonly timeoutMs?: number | undefined
  /** Milliseconds after a failure during which a request of this call is sent again. Default: the client's value. */
  readonly maxResendMs?: number | undefined
  /**
   * Random id of the call, 22 characters of Base64url. A second call with the same key gets the first one's outcome and
   * repeats no effect, if the server supports this. Default: a new key for each call of a tool, prompt or resource, and
   * none for other calls. To repeat a call after a restart of your process, choose the key yourself and store it.
   */
  readonly idempotencyKey?: string | undefined
  /** Receives progress. If it throws, the call fails. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Receives log messages. If it throws, the call fails. */
  readonly onLog?: ((message: LogMessage) => void) | undefined
  /** Least severe level that the server sends. Default: `info` if there is an `onLog`. */
  readonly logLevel?: LoggingLevel | undefined
  /** Further members of `_meta`, such as `traceparent`. They cannot replace the client's own. */
  readonly meta?: JsonObject | undefined
  /**
   * Capabilities that this call declares beyond the client's. Those of an extension are under its identifier in
   * `extensions`.
   */
  readonly capabilities?: ClientCapabilities | undefined
}

/** Options of a call that the cache may answer. */
export interface ReadOptions extends CallOptions {
  /** True asks the server even if a fresh result is cached. */
  readonly refresh?: boolean | undefined
}
