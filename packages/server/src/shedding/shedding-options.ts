import type { StateStore } from '@x/state-codec'

/** The load of this process. */
export interface Load {
  /** Calls of handlers that run here, without those that are just being shed. */
  readonly running: number
  /** By how many milliseconds the event loop was late lately. */
  readonly eventLoopDelayMs: number
  /** The share of the heap limit in use, from 0 to 1, undefined where it is not measured. */
  readonly heapShare: number | undefined
}

/** A call at the end of a step, or at a checkpoint that was saved, from where another instance could continue. */
export interface SheddingCall {
  readonly method: string
  /** The tool, prompt or resource. */
  readonly name: string
  /** Earlier hand-offs of the call. */
  readonly shedCount: number
  /** Rounds in which the call has asked its client. */
  readonly roundCount: number
  /** For how many milliseconds it has worked here, from its first step or checkpoint on. */
  readonly workedMs: number
}

/** The reason of a hand-off: a limit of the load, the author's own policy, or the stop of the instance. */
export type ShedReason = 'load' | 'policy' | 'stopping'

/** A call that was shed. */
export interface ShedEvent {
  readonly method: string
  /** The tool, prompt or resource. */
  readonly name: string
  readonly reason: ShedReason
  /** Hand-offs of the call, this one included. */
  readonly shedCount: number
  /** The load that was known when it was decided. */
  readonly load: Load
}

/** Options of overload. See {@link ServerDefinition.shedding}. */
export interface SheddingOptions {
  /**
   * Returns measurements, about ten times a second while calls run: `measureLoad()` of `@x/server/node` measures event
   * loop and heap exactly. The server measures the absent values itself: its running calls, and the delay of a timer.
   */
  readonly load?: (() => Partial<Load>) | undefined
  /** Limits from which on new calls are refused before their handler runs. Default: none. */
  readonly hardLimit?: HardLimit | undefined
  /** Receives every hand-off. */
  readonly onShed?: ((event: ShedEvent) => void) | undefined
}

/** The options of overload, and the rules of hand-offs that are constants for users. */
export interface SheddingSettings extends SheddingOptions {
  /**
   * The calls that may be handed off. `'resumable'` calls are those of transports where a retry may reach another
   * instance, such as HTTP, when the server has a `state` that other instances open. `'all'` is those of every
   * transport.
   */
  readonly calls?: 'resumable' | 'all'
  /**
   * Decides in place of the soft limits. `minWorkMs` and `budget` hold all the same. A call stays here when its policy
   * throws.
   */
  readonly policy?: ((load: Load, call: SheddingCall) => boolean) | undefined
  /** Soft limit of running calls. Shedding ends below four fifths of a soft limit. */
  readonly maxRunningCalls?: number
  /** Soft limit of the event loop's delay in milliseconds. */
  readonly maxEventLoopDelayMs?: number
  /** Soft limit of the heap in use, from 0 to 1. */
  readonly maxHeapShare?: number
  /** Milliseconds that a call works at each instance before it may be shed. */
  readonly minWorkMs?: number
  /** Hand-offs of one call for load before it runs to its end. */
  readonly budget?: number
  /** Milliseconds after which a refused client should try again. */
  readonly retryAfterMs?: number
}

/**
 * From where on new calls are refused. A call that returns is let in up to twice as much, because its work would be
 * lost.
 */
export interface HardLimit {
  readonly running?: number | undefined
  readonly eventLoopDelayMs?: number | undefined
}

/** The load of a server at one moment. */
export interface McpServerLoad extends Load {
  /**
   * True when a balancer should send calls here: the server does not stop, is not at its hard limit, and has not been
   * over its limits of readiness for five seconds.
   */
  readonly ready: boolean
  /** True when a stop was announced with `drain`. */
  readonly draining: boolean
  /** Names of the extensions that could not be reached when `ready()` was last called. */
  readonly unavailable: readonly string[]
  /** Counts since the server was made. */
  readonly counters: LoadCounters
}

/** Counts of the outcomes of calls. */
export interface LoadCounters {
  /** Calls that were shed, by reason. */
  readonly sheds: Readonly<Record<ShedReason, number>>
  /** Calls that were refused at the hard limit. */
  readonly rejected: number
  /** Calls that came here with what they had done elsewhere or before. */
  readonly resumed: number
}

/** The storage of completed results, for calls that are sent again. */
export interface IdempotencyOptions {
  /** Shared by all instances, as `redisStore` and `postgresStore` of `@x/state-codec` are. */
  readonly store: StateStore
}
