import type { Readable, Writable } from 'node:stream'
import {
  type Clock,
  errorRecord,
  type Log,
  maxTimerMs,
  type OptionTable,
  optionTypes,
  platformRuntime,
  type ResolvedOptions,
  resolveOptions,
} from '@x/core'
import type { Principal, Server } from '@x/exchange'
import { defaultBounds, type ParseBounds } from '@x/schema'

/** Options of {@link serveStdio}. */
export interface ServeStdioOptions {
  /** Messages are read from here. Default: `process.stdin`. Set both streams or none. */
  readonly input?: Readable | undefined
  /** Messages are written here. Default: `process.stdout`. A socket is both this and `input`. */
  readonly output?: Writable | undefined
  /** How many milliseconds a call that was asked to stop may still take. Default: 1,000. */
  readonly graceMs?: number | undefined
  /** Who the client is, if that is known, as on a private socket. */
  readonly principal?: Principal | undefined
  /** Ends the service when it aborts, as `close` does. */
  readonly signal?: AbortSignal | undefined
  /**
   * Exits the process one second after the service has ended, if it still runs then. Default: true for stdin and
   * stdout, because a server process must not outlive its client; false for other streams.
   */
  readonly exit?: boolean | undefined
  /** Default: the platform's clock. */
  readonly runtime?: Clock | undefined
}

const serveOptionTable = {
  input: undefined,
  output: undefined,
  graceMs: { default: 1000, min: 0, max: maxTimerMs, isWhole: false },
  principal: { type: optionTypes.principal },
  signal: undefined,
  exit: { type: optionTypes.boolean },
  runtime: { default: platformRuntime, type: optionTypes.object },
} satisfies OptionTable<ServeStdioOptions>

export interface ServiceSettings
  extends Pick<ResolvedOptions<ServeStdioOptions, typeof serveOptionTable>, 'graceMs' | 'principal'> {
  readonly maxLineBytes: number
  readonly bounds: ParseBounds
  readonly maxQueuedBytes: number
  readonly onError: (error: unknown) => void
  readonly log: Log
  readonly clock: Clock
}

/** For the tests of this package. No option, because no server needs other values. */
export type ServiceInternals = { readonly [Limit in 'maxLineBytes' | 'maxQueuedBytes']?: number | undefined }

/**
 * Four times as much as over HTTP, because the peer on a pair of streams is a single program that the user trusts. A
 * longer line gets an error response, and the next line is read as usual.
 */
// limit: bytes | a line from a client | `-32700`, and the rest of the line is skipped
const maxLineBytes = 16 * 1024 * 1024

/**
 * May wait for a slow reader: about 1,000 notifications of a kilobyte. Beyond that, notifications of calls are dropped,
 * and responses are still sent. A streaming call is ended instead, because its client could not notice the loss.
 */
// limit: bytes | output that waits for a slow reader | notifications are dropped, streams are closed
const maxQueuedBytes = 1_048_576

export function resolveServiceSettings(
  options: ServeStdioOptions,
  { log }: Pick<Server, 'log'>,
  internals: ServiceInternals = {},
): ServiceSettings {
  const { graceMs, principal, runtime: clock } = resolveOptions(options, serveOptionTable, 'serveStdio')
  const lineBytes = internals.maxLineBytes ?? maxLineBytes
  return {
    maxLineBytes: lineBytes,
    bounds: { ...defaultBounds, bytes: lineBytes },
    maxQueuedBytes: internals.maxQueuedBytes ?? maxQueuedBytes,
    graceMs,
    principal,
    onError: (error) => log(errorRecord(error, { method: 'stdio' })),
    log,
    clock,
  }
}
