import { type Clock, defaultBounds, type ParseBounds, platformClock, type RpcNotification } from '@x/schema'
import type { Duplex, Readable, Writable } from 'node:stream'
import type { StdioError } from '../stdio-error.ts'

/** What a connection over any streams takes. */
export interface LinkOptions {
  /** The bytes of one line, 16 MiB by default. A longer one is reported and skipped, and its call fails where it can be told. */
  readonly maxLineBytes?: number | undefined
  /** Bounds of a message beside its length. */
  readonly bounds?: Partial<Pick<ParseBounds, 'depth' | 'elements'>> | undefined
  /**
   * Hears of what the server sends and must not: lines that are no message, requests, answers that nobody waits for. They
   * are skipped; by default nobody hears.
   */
  readonly onError?: ((error: StdioError) => void) | undefined
  /** Takes notifications that belong to none of the calls under way, or to one of several that cannot be told apart. */
  readonly onNotification?: ((message: RpcNotification) => void) | undefined
  /** How long each step of an orderly end may take, in milliseconds; 2,000 by default. */
  readonly graceMs?: number | undefined
  /** Default: the platform's. */
  readonly clock?: Clock | undefined
}

/** What {@link connectStreams} takes. */
export interface StreamConnectOptions extends LinkOptions {
  /** Where the server's messages come from. */
  readonly input: Readable | Duplex
  /** Where messages to the server go; the same as `input` for a socket. */
  readonly output: Writable | Duplex
}

/** How a process that ended is started again. */
export interface RestartOptions {
  /** How many times in a row a process may end before it is given up. Default 5. */
  readonly limit?: number | undefined
  /** The pause after the first end, doubled for each further one in a row, in milliseconds. Default 100. */
  readonly pauseMs?: number | undefined
  /** The longest pause, in milliseconds. Default 10,000. */
  readonly maxPauseMs?: number | undefined
  /** A process that ran for so many milliseconds ends a row. Default 60,000. */
  readonly steadyMs?: number | undefined
}

/** How a process ended. */
export interface ProcessExit {
  readonly pid: number | undefined
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  /** Whether this side ended it. */
  readonly expected: boolean
  /** The last lines of its stderr, where they are not inherited; at most 2,000 characters. */
  readonly stderr: string
}

/** What {@link connectStdio} takes. It runs a program on this machine: take none of it from a network. */
export interface StdioConnectOptions extends LinkOptions {
  /** The program: a path, or a name that is looked up in `PATH`. No shell reads it. */
  readonly command: string
  /** Its arguments, which arrive as they are. */
  readonly args?: readonly string[] | undefined
  /** Variables to add to the few that every process gets, or to replace them; `{ ...process.env }` passes on all. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** The folder that the process starts in; this process's own by default. */
  readonly cwd?: string | URL | undefined
  /** Takes the lines of stderr; `'inherit'` leaves them to this process's own stderr. By default the last ones stand in errors. */
  readonly stderr?: 'inherit' | ((line: string) => void) | undefined
  /** Asks a fresh process for `server/discover` before anything else, for at most `timeoutMs` (30,000 by default). On by default. */
  readonly probe?: false | { readonly timeoutMs?: number | undefined } | undefined
  /** `false`: a process that ended is not started again. */
  readonly restart?: false | RestartOptions | undefined
  /** Hears of each end of a process. */
  readonly onExit?: ((exit: ProcessExit) => void) | undefined
}

/** The options of a link, worked out once. */
export interface LinkSettings {
  readonly maxLineBytes: number
  readonly bounds: ParseBounds
  readonly onError: (error: StdioError) => void
  readonly onNotification: (message: RpcNotification) => void
  readonly graceMs: number
  readonly clock: Clock
}

const sixteenMebibytes = 16 * 1024 * 1024

/** Fills in what was not given. */
export function linkSettings(options: LinkOptions): LinkSettings {
  const { maxLineBytes = sixteenMebibytes, graceMs = 2000, clock = platformClock } = options
  return {
    maxLineBytes,
    bounds: { ...defaultBounds, ...options.bounds, bytes: maxLineBytes },
    onError: options.onError ?? ignore,
    onNotification: options.onNotification ?? ignore,
    graceMs,
    clock,
  }
}

function ignore(): void {}
