import type { ClientCapabilities, JsonObject, JsonValue, LoggingLevel } from '@x/schema'
import type { InputHandlers } from './input-handlers.ts'
import type { RoundOptions } from './round-options.ts'

/** The progress of a call, in units that the server chooses (basic/patterns/progress). */
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
 * Options of a single call. Handlers given here replace those of the client for this call. The call also declares the
 * capabilities of these handlers.
 */
export interface CallOptions extends InputHandlers {
  /** Cancels the call, which then rejects with `signal.reason`. If the signal has already aborted, nothing is sent. */
  readonly signal?: AbortSignal | undefined
  /** Options of the rounds in which the server asks for input. */
  readonly rounds?: RoundOptions | undefined
  /**
   * Milliseconds that each request of the call waits for its response or for the next progress notification. With
   * progress notifications a request can take up to ten times as long. Default: the value of the client.
   */
  readonly timeoutMs?: number | undefined
  /**
   * Milliseconds after a failure during which a request of this call is sent again. Default: the value of the client.
   */
  readonly maxResendMs?: number | undefined
  /**
   * A random id of the call, 22 characters of Base64url. A second call with the same key returns the outcome of the
   * first call and repeats no effect, if the server supports this. Default: a new key for each call of a tool, prompt
   * or resource. Other calls send none. To repeat a call after a restart of your process, choose the key yourself and
   * store it.
   */
  readonly idempotencyKey?: string | undefined
  /** Receives progress. An error that it throws fails the call. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Receives log messages. An error that it throws fails the call. */
  readonly onLog?: ((message: LogMessage) => void) | undefined
  /** The least severe level of log messages that the server sends. Default: `info` if there is an `onLog`. */
  readonly logLevel?: LoggingLevel | undefined
  /**
   * Further members of `_meta`, such as `traceparent`. They cannot replace the members that the client writes itself.
   */
  readonly meta?: JsonObject | undefined
  /**
   * Capabilities that this call declares in addition to those of the client. The capabilities of an extension are under
   * its identifier in `extensions`.
   */
  readonly capabilities?: ClientCapabilities | undefined
}

/** Options of a call whose result may come from the cache. */
export interface ReadOptions extends CallOptions {
  /** True sends the request even if a fresh result is cached. */
  readonly refresh?: boolean | undefined
}
