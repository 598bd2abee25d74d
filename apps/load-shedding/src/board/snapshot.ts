// The types are aliases and no interfaces, so that they count as JSON.

/** The state of an instance. */
export type LaneStatus = 'starting' | 'ready' | 'draining' | 'down'

/** The amount of load that clients generate. */
export type LoadLevel = 'off' | 'steady' | 'heavy'

/** An instance in a snapshot. */
export type LaneView = {
  readonly instance: number
  readonly status: LaneStatus
  /** The process id; 0 while no process runs. */
  readonly pid: number
  readonly isOverloaded: boolean
  /** The event-loop delay in milliseconds, smoothed. */
  readonly eventLoopDelayMs: number
  /** `true` if `/readyz` of the instance responds with 200. */
  readonly isReady: boolean
  /** The number of calls that it handed off. */
  readonly moved: number
}

/** A call in a snapshot. */
export type CallView = {
  readonly call: string
  readonly size: 'light' | 'heavy'
  /** The instance that runs the call; 0 while its client holds it or a request is in transit. */
  readonly instance: number
  /** The instance that started the call; 0 before the start. */
  readonly origin: number
  /** The completed share, from 0 to 1. */
  readonly progress: number
  /** The number of hand-offs. */
  readonly moves: number
  readonly state: 'open' | 'done' | 'lost'
}

/** Counts since the start of the run. */
export type Totals = {
  /** Calls with the expected result. */
  readonly completed: number
  /** Attempts that ended without a result. The client then calls again from the beginning. */
  readonly lost: number
  /** Calls with an unexpected result. */
  readonly wrong: number
  /** The number of hand-offs of all calls. */
  readonly moved: number
  /** Processed chunks of work. */
  readonly chunks: number
  /** Chunks that the same call had processed before. */
  readonly repeated: number
}

/** The latencies of completed calls in a period, without running calls. */
export type Timing = {
  readonly perSecond: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

/** One second of history. */
export type Point = Timing & {
  /** Seconds since the start. */
  readonly at: number
  readonly movesPerSecond: number
  /** The event-loop delay of each instance in milliseconds; null while no process runs. */
  readonly delays: readonly (number | null)[]
}

/** The state of the whole run at one time. */
export type Snapshot = {
  readonly balancer: string
  readonly url: string
  readonly sheds: boolean
  readonly level: LoadLevel
  /** `true` while the instances are restarted in turn. */
  readonly isRolling: boolean
  readonly lanes: readonly LaneView[]
  readonly calls: readonly CallView[]
  readonly totals: Totals
  /** The statistics of the last ten seconds. */
  readonly recent: Timing
  /** The last two minutes. */
  readonly points: readonly Point[]
}
