import type { StateStore } from '@x/state-codec'

/** The load of this process. */
export interface Load {
  /** Running handlers, without those whose calls are being shed. */
  readonly running: number
  /** The recent delay of the event loop, in milliseconds. */
  readonly eventLoopDelayMs: number
  /** Used share of the heap limit, from 0 to 1. Undefined if the heap is not measured. */
  readonly heapShare: number | undefined
}

/** A call at the end of a step or at a saved checkpoint, from where another instance could continue it. */
export interface SheddingCall {
  readonly method: string
  /** A tool's or prompt's name, or a resource's URI. */
  readonly name: string
  /** How often the call was handed off for load. */
  readonly shedCount: number
  /** How many rounds have asked the client. */
  readonly roundCount: number
  /** Milliseconds that the call has run at this instance, from its first step or checkpoint on. */
  readonly workedMs: number
}

/** Why a call is handed off: the load is over a limit, the author's policy decided it, or the instance is stopping. */
export type HandOffReason = 'load' | 'policy' | 'stopping'

/** For an overloaded instance. See {@link ServerDefinition.shedding}. */
export interface SheddingOptions {
  /**
   * Measures the load, about ten times a second while calls run. `measureLoad()` of `@x/server/node` measures the event
   * loop and the heap exactly. For absent values the server uses its running calls and the delay of a timer.
   */
  readonly load?: (() => Partial<Load>) | undefined
  /** When new calls are refused before their handlers run. Default: no limits. */
  readonly hardLimit?: HardLimit | undefined
}

/** The options for an overloaded instance, with the rules of hand-offs that users cannot change. */
export interface SheddingSettings extends SheddingOptions {
  /**
   * The calls that may be handed off. `'resumable'` means calls over transports where a retry may reach another
   * instance, such as HTTP, and requires a `state` that other instances can open. `'all'` means calls over any
   * transport.
   */
  readonly calls?: 'resumable' | 'all'
  /**
   * Returns true to hand a call off. It replaces the soft limits, but `minWorkMs` and `budget` still apply. If it
   * throws, the call stays.
   */
  readonly policy?: ((load: Load, call: SheddingCall) => boolean) | undefined
  /** Soft limit of running calls. Shedding stops when the value falls below four fifths of a soft limit. */
  readonly maxRunningCalls?: number
  /** Soft limit of the event loop's delay, in milliseconds. */
  readonly maxEventLoopDelayMs?: number
  /** Soft limit of the used share of the heap, from 0 to 1. */
  readonly maxHeapShare?: number
  /** Milliseconds that a call works at each instance before it may be shed. */
  readonly minWorkMs?: number
  /** After this many hand-offs for load, a call runs to its end. */
  readonly budget?: number
  /** Milliseconds after which a client should send a refused call again. */
  readonly retryAfterMs?: number
}

/**
 * At this load new calls are refused with -32603 and the `data.reason` `overloaded`, over HTTP with 503. Each limit is
 * a number from 1, or `createServer` throws a `RangeError`. Without a value there is no limit. `running` counts the
 * handlers of this server; `eventLoopDelayMs` is in milliseconds.
 *
 * A call that returns with its state would lose its work, so it is accepted up to twice `eventLoopDelayMs`. A quarter
 * of `running` is kept for new calls, and at the limit the returning calls of one caller get at most half of it.
 */
export interface HardLimit {
  readonly running?: number | undefined
  readonly eventLoopDelayMs?: number | undefined
}

/** A server's load at one moment. */
export interface McpServerLoad extends Load {
  /**
   * True if a balancer should send calls to this server: no stop is announced, and the load is below the hard limit.
   */
  readonly ready: boolean
  /** True if a stop was announced with `drain`. */
  readonly draining: boolean
  /**
   * Parts that could not be reached when `ready()` was last called: names of extensions, and `state` or `subscriptions`
   * for the store of the codec and the bus.
   */
  readonly unavailable: readonly string[]
  /** Counts since the server was made. */
  readonly counters: LoadCounters
}

/** Counts of the outcomes of calls. */
export interface LoadCounters {
  /** Hand-offs, by reason. */
  readonly handOffs: Readonly<Record<HandOffReason, number>>
  /** Calls that were refused at the hard limit. */
  readonly rejected: number
  /** Calls that arrived with a state and continued from it. */
  readonly resumed: number
}

/** Storage of completed results, with which repeated calls are answered. */
export interface IdempotencyOptions {
  /** All instances must share it, such as `redisStore` or `postgresStore` of `@x/state-codec`. */
  readonly store: StateStore
}
