import type { Readable, Writable } from 'node:stream'
import { checkOptions, type Clock, type ErrorListener, errorListener, platformRuntime } from '@x/core'
import { defaultBounds, type ParseBounds, type Principal } from '@x/schema'

/** Options of {@link serveStdio}. */
export interface ServeStdioOptions {
  /** The stream of incoming messages. `process.stdin` by default. Give both streams or neither. */
  readonly input?: Readable | undefined
  /** The stream of outgoing messages. `process.stdout` by default. A socket is both streams. */
  readonly output?: Writable | undefined
  /**
   * The length limit of one line in bytes. Default: 16 MiB. A longer line gets an error response, and the stream
   * continues.
   */
  readonly maxLineBytes?: number | undefined
  /** Limits of a message in addition to its length. */
  readonly bounds?: Partial<Pick<ParseBounds, 'depth' | 'elements'>> | undefined
  /**
   * The limit of queued output for a slow reader in bytes. Default: 1 MiB. Beyond it, notifications of a call are
   * dropped, responses never. A streaming call is ended instead, since its client could not detect the loss.
   */
  readonly maxQueuedBytes?: number | undefined
  /** The time limit for calls that were asked to stop, in milliseconds. Default: 1,000. */
  readonly graceMs?: number | undefined
  /** The principal of the peer, where it is known, as on a private socket. */
  readonly principal?: Principal | undefined
  /** Ends the service when it aborts, as `close` does. */
  readonly signal?: AbortSignal | undefined
  /**
   * Lets the process exit with the service, forced after one second if something keeps it running. On by default for
   * stdin and stdout alone, because a server without its client must not stay.
   */
  readonly exit?: boolean | undefined
  /**
   * Called with failures whose cause the peer must not see. A line of `console.error` when absent, `false` for none.
   */
  readonly onError?: ErrorListener<[error: unknown]>
  /** Default: the platform's. */
  readonly runtime?: Clock | undefined
}

const knownOptions = {
  input: true,
  output: true,
  maxLineBytes: true,
  bounds: true,
  maxQueuedBytes: true,
  graceMs: true,
  principal: true,
  signal: true,
  exit: true,
  onError: true,
  runtime: true,
} as const satisfies Record<keyof ServeStdioOptions, true>

/** The options of a service with defaults. */
export interface ServiceSettings {
  readonly maxLineBytes: number
  readonly bounds: ParseBounds
  readonly maxQueuedBytes: number
  readonly graceMs: number
  readonly principal: Principal | undefined
  readonly onError: (error: unknown) => void
  readonly clock: Clock
}

const defaultMaxLineBytes = 16 * 1024 * 1024

/**
 * @throws TypeError for an option that does not exist.
 * @throws RangeError for a number that is negative or not a number.
 */
export function resolveServiceSettings(options: ServeStdioOptions): ServiceSettings {
  checkOptions(options, knownOptions, 'serveStdio')
  const maxLineBytes = requireNonNegative('maxLineBytes', options.maxLineBytes ?? defaultMaxLineBytes)
  return {
    maxLineBytes,
    bounds: { ...defaultBounds, ...options.bounds, bytes: maxLineBytes },
    maxQueuedBytes: requireNonNegative('maxQueuedBytes', options.maxQueuedBytes ?? 1_048_576),
    graceMs: requireNonNegative('graceMs', options.graceMs ?? 1000),
    principal: options.principal,
    onError: errorListener(options.onError, '@x/transport-stdio'),
    clock: options.runtime ?? platformRuntime,
  }
}

function requireNonNegative(name: string, value: number): number {
  if (value >= 0) return value
  throw new RangeError(`${name} is ${value}: give a number of 0 or more`)
}
