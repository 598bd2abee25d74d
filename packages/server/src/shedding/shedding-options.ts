/** What is known of how busy this process is. */
export interface Load {
  /** Calls of handlers that run here, without those that are just being shed. */
  readonly running: number
  /** By how many milliseconds the event loop was late lately. */
  readonly eventLoopDelayMs: number
  /** How much of the heap that the process may have is in use, from 0 to 1; undefined where nobody measures it. */
  readonly heapShare: number | undefined
}

/** A call at the end of a step, or at a checkpoint that was saved, from where another instance could go on. */
export interface SheddingCall {
  readonly method: string
  /** The tool, prompt or resource. */
  readonly name: string
  /** How often the call was shed before. */
  readonly sheds: number
  /** How often the call has asked its client. */
  readonly rounds: number
  /** For how many milliseconds it has worked here, from its first step or checkpoint on. */
  readonly workedMs: number
}

/** Why a call is shed: a limit of the load, the author's own policy, or because the instance stops. */
export type ShedReason = 'load' | 'policy' | 'stopping'

/** A call that was shed. */
export interface ShedEvent {
  readonly method: string
  /** The tool, prompt or resource. */
  readonly name: string
  readonly reason: ShedReason
  /** How often the call has been shed now. */
  readonly sheds: number
  /** The load that was known when it was decided. */
  readonly load: Load
}

/** When calls move on to other instances; see {@link ServerDefinition.shedding}. All of it has defaults. */
export interface SheddingOptions {
  /**
   * Which calls may be shed: those of transports where a retry may reach another instance, as over HTTP, when the server has a
   * `state` that other instances open (`'movable'`, the default); or those of every transport (`'all'`).
   */
  readonly calls?: 'movable' | 'all' | undefined
  /** Decides in place of the soft limits; `minWorkMs` and `budget` hold all the same. One that throws keeps the call here. */
  readonly policy?: ((load: Load, call: SheddingCall) => boolean) | undefined
  /**
   * Where measurements come from, about ten times a second while calls run: `measureLoad()` of `@x/server/node` measures event loop and heap exactly. What it
   * does not tell is the server's own: its running calls, and how late a timer is.
   */
  readonly load?: (() => Partial<Load>) | undefined
  /** Soft limit of running calls; none when absent. Shedding ends below four fifths of a soft limit. */
  readonly maxRunning?: number | undefined
  /** Soft limit of the event loop's delay in milliseconds, 100 when absent. */
  readonly maxEventLoopDelayMs?: number | undefined
  /** Soft limit of the heap in use, from 0 to 1; 0.85 when absent, where it is measured. */
  readonly maxHeapShare?: number | undefined
  /** For so many milliseconds a call works at each instance before it may be shed; 500 when absent. */
  readonly minWorkMs?: number | undefined
  /**
   * How often one call may be shed for load before it runs to its end, 5 when absent: most clients give up after ten results that are not final. A call
   * that asks much has less of it.
   */
  readonly budget?: number | undefined
  /** Limits from which on new calls are refused before their handler runs; none when absent. */
  readonly hardLimit?: HardLimit | undefined
  /** After how many milliseconds a refused client should try again; 1000 when absent. */
  readonly retryAfterMs?: number | undefined
  /** Is told of every call that was shed. */
  readonly onShed?: ((event: ShedEvent) => void) | undefined
}

/** From where on new calls are refused. A call that comes back is let in up to twice as much, because its work would be lost. */
export interface HardLimit {
  readonly running?: number | undefined
  readonly eventLoopDelayMs?: number | undefined
}

/** How a server is doing, at one moment. */
export interface ServerLoad extends Load {
  /**
   * Whether a balancer should send calls here: the server does not stop, is not at its hard limit, and has not been over
   * its soft limits for five seconds.
   */
  readonly ready: boolean
  /** Whether `drain` was called. */
  readonly draining: boolean
  /** Counts since the server was made. */
  readonly counters: LoadCounters
}

/** What has become of calls. */
export interface LoadCounters {
  /** Calls that were shed, by reason. */
  readonly sheds: Readonly<Record<ShedReason, number>>
  /** Calls that were refused at the hard limit. */
  readonly refused: number
  /** Calls that came here with what they had done elsewhere or before. */
  readonly resumed: number
}
