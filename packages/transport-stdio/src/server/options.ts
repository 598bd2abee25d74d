import type { Readable, Writable } from 'node:stream'
import { checkedNumber, checkOptions, type Clock, errorRecord, platformRuntime } from '@x/core'
import { defaultBounds, type ParseBounds, type Principal, type Server } from '@x/schema'

/** Options of {@link serveStdio}. */
export interface ServeStdioOptions {
  /** The stream of incoming messages. `process.stdin` by default. Give both streams or neither. */
  readonly input?: Readable | undefined
  /** The stream of outgoing messages. `process.stdout` by default. A socket is both streams. */
  readonly output?: Writable | undefined
  /** The time limit for calls that were asked to stop, in milliseconds. Default: 1,000. */
  readonly graceMs?: number | undefined
  /** The principal of the peer, where it is known, as on a private socket. */
  readonly principal?: Principal | undefined
  /** Ends the service when it aborts, as `close` does. */
  readonly signal?: AbortSignal | undefined
  /**
   * Lets the process exit with the service. A process that still runs after one second is ended. True by default for
   * stdin and stdout alone, because a server process must not outlive its client.
   */
  readonly exit?: boolean | undefined
  /** The clock. Default: that of the platform. */
  readonly runtime?: Clock | undefined
}

const knownOptions = {
  input: true,
  output: true,
  graceMs: true,
  principal: true,
  signal: true,
  exit: true,
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

/** Values that the tests of this package replace. They are no options, because no server needs other values. */
export interface ServiceInternals {
  readonly maxLineBytes?: number | undefined
  readonly maxQueuedBytes?: number | undefined
}

const defaults = { graceMs: 1000 } satisfies ServeStdioOptions

/**
 * Bytes of one line: four times what HTTP takes, because the peer of a pair of streams is one program that the user
 * trusts. A longer line gets an error response, and the stream continues.
 */
const maxLineBytes = 16 * 1024 * 1024

/**
 * Bytes that may wait for a slow reader: about 1,000 notifications of a kilobyte. Beyond them notifications of a call
 * are dropped, responses never. A streaming call is ended instead, because its client could not detect the loss.
 */
const maxQueuedBytes = 1_048_576

/**
 * Returns the settings of a service.
 *
 * @throws TypeError for an option that does not exist.
 * @throws RangeError for a number that is negative or not a number.
 */
export function resolveServiceSettings(
  options: ServeStdioOptions,
  { log }: Pick<Server, 'log'>,
  internals: ServiceInternals = {},
): ServiceSettings {
  checkOptions(options, knownOptions, 'serveStdio')
  const lineBytes = internals.maxLineBytes ?? maxLineBytes
  return {
    maxLineBytes: lineBytes,
    bounds: { ...defaultBounds, bytes: lineBytes },
    maxQueuedBytes: internals.maxQueuedBytes ?? maxQueuedBytes,
    graceMs: checkedNumber('graceMs', options.graceMs ?? defaults.graceMs, { min: 0, isWhole: false }),
    principal: options.principal,
    onError: (error) => log(errorRecord(error, { method: 'stdio' })),
    clock: options.runtime ?? platformRuntime,
  }
}
