import { emptyFleetView, type FleetView } from './fleet-view.ts'
import { isOverloaded, noOverload, type Overload, overloadOf } from './overload.ts'
import type { SheddingRules } from './rules.ts'
import type { Load, SheddingOptions, ShedReason } from './shedding-options.ts'

/** The load of a server, as far as it is known. It is written in place, because every call of a handler changes it. */
export interface LoadMonitor {
  readonly rules: SheddingRules
  readonly source: LoadSource
  /** Handlers that run. */
  running: number
  /** Those of them whose calls came back with a state. */
  returning: number
  /** The same by the key of the caller; callers without one are absent. */
  readonly returningOf: Map<string, number>
  /** Those of them that are being handed off. */
  leaving: number
  /** Runs that wait for the next tick. */
  waiting: number
  /** Stops announced so far. */
  drains: number
  /** Announced stops that were not taken back. */
  draining: number
  /** True when a timer measures periodically. */
  ticking: boolean
  /** Time at which the next tick should come. */
  due: number
  measuredAt: number
  measured: Partial<Load>
  /** By how many milliseconds ticks were late, smoothed. */
  lateMs: number
  /** The values that are over the limits of shedding. */
  overload: Overload
  /** The values that are over the limits of readiness. */
  unready: Overload
  /** Since when something has been over its limit of readiness. */
  unreadySince: number | undefined
  /** Calls that may be handed off until the allowance is renewed. */
  allowance: number
  allowedAt: number
  /** The loads of other instances, as their hand-offs tell them. */
  readonly fleet: FleetView
  readonly sheds: Record<ShedReason, number>
  rejected: number
  resumed: number
}

/** The time and the measurements of a load monitor. */
export interface LoadSource {
  /** Milliseconds, from any beginning. */
  readonly now: () => number
  /** Milliseconds since 1970: what instances tell each other is dated by it. */
  readonly wallClock: () => number
  /**
   * Runs a function once, later, without keeping the process alive for it; undefined where timers measure no delay of the event loop.
   */
  readonly later: ((run: () => void, ms: number) => void) | undefined
  readonly measure: SheddingOptions['load']
  /** Receives the error of a failed measurement. */
  readonly onFailure: (error: unknown) => void
  /** Returns a random name for this instance; not its process id, which other machines have as well. */
  readonly randomId: () => string
}

/** Milliseconds between two measurements. */
const measureEveryMs = 100

/** Milliseconds between two allowances: a measurement needs that long to show the effect of the first. */
const allowEveryMs = 200

/** The share of the running calls that may be handed off at each allowance. */
const allowedShare = 1 / 8

/** Timers may fire a little early. */
const slackMs = 1

/** Makes a load monitor that has measured nothing. */
export function createLoadMonitor(rules: SheddingRules, source: LoadSource): LoadMonitor {
  return {
    rules,
    source,
    running: 0,
    returning: 0,
    returningOf: new Map(),
    leaving: 0,
    waiting: 0,
    drains: 0,
    draining: 0,
    ticking: false,
    due: 0,
    measuredAt: Number.NEGATIVE_INFINITY,
    measured: {},
    lateMs: 0,
    overload: noOverload,
    unready: noOverload,
    unreadySince: undefined,
    allowance: 0,
    allowedAt: Number.NEGATIVE_INFINITY,
    fleet: emptyFleetView(source.randomId),
    sheds: { load: 0, policy: 0, stopping: 0 },
    rejected: 0,
    resumed: 0,
  }
}

/** Notes that a handler begins. */
export function beginMonitoredCall(monitor: LoadMonitor): void {
  monitor.running++
  if (!monitor.ticking) beginTicks(monitor)
}

/** Notes that a handler has come to its end. */
export function endMonitoredCall(monitor: LoadMonitor): void {
  monitor.running--
}

/** Returns the load as it is known. */
export function loadOf(monitor: LoadMonitor): Load {
  const { running = monitor.running - monitor.leaving, eventLoopDelayMs = monitor.lateMs, heapShare } = monitor.measured
  return { running, eventLoopDelayMs, heapShare }
}

/** Measures, unless it was done a moment ago: a loop that is blocked has no ticks. */
export function sampleLoad(monitor: LoadMonitor): void {
  const { source } = monitor
  const now = source.now()
  if (now - monitor.measuredAt < measureEveryMs - slackMs) return
  monitor.measuredAt = now
  if (monitor.ticking && now >= monitor.due) monitor.lateMs = (monitor.lateMs + now - monitor.due) / 2
  monitor.measured = takeMeasurement(source)
  compareWithLimits(monitor)
  if (now - monitor.allowedAt < allowEveryMs - slackMs) return
  monitor.allowedAt = now
  // Were all calls handed off at once, the next measurement would show an idle instance among flooded ones.
  monitor.allowance = Math.max(1, Math.ceil(monitor.running * allowedShare))
}

/** Compares the load with the limits. The number of running calls changes with each of them, so it is looked at now. */
export function compareWithLimits(monitor: LoadMonitor): void {
  const { limits, readyLimits } = monitor.rules
  const load = loadOf(monitor)
  monitor.overload = overloadOf(load, limits, monitor.overload)
  monitor.unready = overloadOf(load, readyLimits, monitor.unready)
  if (isOverloaded(monitor.unready)) monitor.unreadySince ??= monitor.source.now()
  else monitor.unreadySince = undefined
}

function takeMeasurement({ measure: take, onFailure }: LoadSource): Partial<Load> {
  try {
    return take === undefined ? {} : take()
  } catch (error) {
    onFailure(error)
    return {}
  }
}

function beginTicks(monitor: LoadMonitor): void {
  const { later, now } = monitor.source
  if (later === undefined) return
  monitor.ticking = true
  monitor.due = now() + measureEveryMs
  later(() => tick(monitor), measureEveryMs)
}

function tick(monitor: LoadMonitor): void {
  sampleLoad(monitor)
  if (monitor.running > 0) return beginTicks(monitor)
  monitor.ticking = false
  // The last measurement says nothing of the time to come.
  monitor.lateMs = 0
  monitor.overload = noOverload
  monitor.unready = noOverload
  monitor.unreadySince = undefined
}
