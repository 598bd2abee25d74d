import type { ClientCapabilities, JsonObject, JsonValue, LoggingLevel } from '@x/schema'
import type { InputHandlers } from './rounds/input-handlers.ts'
import type { RoundOptions } from './rounds/round-options.ts'

/** How far a call has come, in units of the server's choice (basic/patterns/progress). */
export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** A log message of the call that it came with (server/utilities/logging). */
export interface LogMessage {
  readonly level: LoggingLevel
  readonly logger?: string | undefined
  readonly data: JsonValue
}

/** What a single call takes. Its handlers go before the client's, and are declared with this call alone. */
export interface CallOptions extends InputHandlers {
  /** Cancels the call, which then rejects with `signal.reason`. Aborted already: nothing is sent. */
  readonly signal?: AbortSignal | undefined
  /** How the call goes on when the server asks for input; what is not said here is as for the client. */
  readonly rounds?: RoundOptions | undefined
  /** How long to wait for the response or the next progress of each request, in milliseconds. Default: the client's. */
  readonly timeoutMs?: number | undefined
  /** How long to wait for each request whatever progress is made, in milliseconds. Default: the client's, or ten times `timeoutMs`. */
  readonly maxTotalMs?: number | undefined
  /** How often the call is sent again when the server says that it has not begun it. Default: the client's. */
  readonly retries?: number | undefined
  /** Told of progress; what it throws fails the call. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Told of log messages; what it throws fails the call. */
  readonly onLog?: ((message: LogMessage) => void) | undefined
  /** The least severe log message wanted. Default `info` when there is an `onLog`. */
  readonly logLevel?: LoggingLevel | undefined
  /** More `_meta`, such as `traceparent`; what the client writes itself cannot be replaced. */
  readonly meta?: JsonObject | undefined
  /** Declared with the requests of this call, beside what the client declares: an extension's, by its identifier in `extensions`. */
  readonly capabilities?: ClientCapabilities | undefined
}

/** What a call takes whose result may come from the cache. */
export interface ReadOptions extends CallOptions {
  /** Asks the server even when a fresh result is at hand. */
  readonly refresh?: boolean | undefined
}
