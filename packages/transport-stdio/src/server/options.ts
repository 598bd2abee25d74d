import type { Readable, Writable } from 'node:stream'
import { type Clock, defaultBounds, type ParseBounds, platformClock, type Principal } from '@x/schema'

/** What {@link serveStdio} takes. */
export interface ServeStdioOptions {
  /** Where messages come from; `process.stdin` by default. Give both streams or none. */
  readonly input?: Readable | undefined
  /** Where messages go; `process.stdout` by default. A socket is both streams. */
  readonly output?: Writable | undefined
  /** The bytes of one line, 16 MiB by default. A longer one is answered with an error, and the stream goes on. */
  readonly maxLineBytes?: number | undefined
  /** Bounds of a message beside its length. */
  readonly bounds?: Partial<Pick<ParseBounds, 'depth' | 'elements'>> | undefined
  /** How many calls may be under way, 1,024 by default; one more is answered with an error, so that a cancellation is still read. */
  readonly maxCalls?: number | undefined
  /**
   * How much may wait for a slow reader, 1 MiB by default. Beyond it a call's notifications are dropped, its response
   * never; a call that streams by nature is ended instead, since nobody could tell what was lost.
   */
  readonly maxQueuedBytes?: number | undefined
  /** How long calls that were told to stop may take to do so, in milliseconds; 1,000 by default. */
  readonly graceMs?: number | undefined
  /** Who is at the other end, where that is known, as it is on a socket of one's own. */
  readonly principal?: Principal | undefined
  /** Ends the service when it aborts, as `close` does. */
  readonly signal?: AbortSignal | undefined
  /**
   * Whether the process ends with the service: a second after it, when something keeps it running still. On by default for
   * stdin and stdout alone, because a server whose client has gone must not stay.
   */
  readonly exit?: boolean | undefined
  /** Hears of failures whose cause the peer must not see; by default nobody does. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Default: the platform's. */
  readonly clock?: Clock | undefined
}

/** The options of a service, worked out once. */
export interface Settings {
  readonly maxLineBytes: number
  readonly bounds: ParseBounds
  readonly maxCalls: number
  readonly maxQueuedBytes: number
  readonly graceMs: number
  readonly principal: Principal | undefined
  readonly onError: (error: unknown) => void
  readonly clock: Clock
}

const sixteenMebibytes = 16 * 1024 * 1024

/** @throws RangeError for a number that is negative or not a number. */
export function compileSettings(options: ServeStdioOptions): Settings {
  const maxLineBytes = amount('maxLineBytes', options.maxLineBytes ?? sixteenMebibytes)
  return {
    maxLineBytes,
    bounds: { ...defaultBounds, ...options.bounds, bytes: maxLineBytes },
    maxCalls: amount('maxCalls', options.maxCalls ?? 1024),
    maxQueuedBytes: amount('maxQueuedBytes', options.maxQueuedBytes ?? 1_048_576),
    graceMs: amount('graceMs', options.graceMs ?? 1000),
    principal: options.principal,
    onError: options.onError ?? ignore,
    clock: options.clock ?? platformClock,
  }
}

function ignore(): void {}

function amount(name: string, value: number): number {
  if (value >= 0) return value
  throw new RangeError(`${name} is ${value}: give a number from 0 up`)
}
