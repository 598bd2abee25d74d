/** The state of an instance. */
export type LaneStatus = 'starting' | 'ready' | 'draining' | 'down'

/** The amount of load. */
export type LoadLevel = 'off' | 'steady' | 'heavy'

/** An instance, as it is shown. */
export interface LaneView {
  readonly instance: number
  readonly status: LaneStatus
  /** Its process; 0 while there is none. */
  readonly pid: number
  readonly isOverloaded: boolean
  /** By how many milliseconds a timer was late there lately. */
  readonly eventLoopDelayMs: number
  /** `true` when `/readyz` reports it. */
  readonly isReady: boolean
  /** The number of calls handed off to another instance. */
  readonly moved: number
}

/** A call, as it is shown. */
export interface CallView {
  readonly call: string
  readonly size: 'light' | 'heavy'
  /** The instance that works on it; 0 while it is with the client or on its way. */
  readonly instance: number
  /** The instance that began it; 0 before that. */
  readonly origin: number
  /** The completed share, from 0 to 1. */
  readonly progress: number
  readonly moves: number
  readonly state: 'open' | 'done' | 'lost'
}

/** Counts since the start. */
export interface Totals {
  /** Calls whose clients have the right result. */
  readonly completed: number
  /** Attempts of clients that ended without a result; the client then tries again from the beginning. */
  readonly lost: number
  /** Calls whose results were not what they should be. */
  readonly wrong: number
  /** The number of handoffs of a call. */
  readonly moved: number
  /** Chunks of work that were done, and how many of them had been done before. */
  readonly chunks: number
  readonly repeated: number
}

/** The latencies of completed calls in a period, without running calls. */
export interface Timing {
  readonly perSecond: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

/** One second of history. */
export interface Point extends Timing {
  /** Seconds since the start. */
  readonly at: number
  readonly movesPerSecond: number
  /** The event loop's delay of each instance in milliseconds; null while there is none. */
  readonly delays: readonly (number | null)[]
}

/** Everything that is shown at one moment. */
export interface Snapshot {
  readonly balancer: string
  readonly url: string
  readonly sheds: boolean
  readonly level: LoadLevel
  /** `true` while the instances are restarted in turn. */
  readonly isRolling: boolean
  readonly lanes: readonly LaneView[]
  readonly calls: readonly CallView[]
  readonly totals: Totals
  /** The last ten seconds. */
  readonly recent: Timing
  /** The seconds that are over since the last snapshot; with the first one, all that are kept. */
  readonly points: readonly Point[]
}
