import type { SheddingRules } from './rules.ts'
import type { Load, SheddingOptions, ShedReason } from './shedding-options.ts'
import { isStrained, noStrain, type Strain, strainOf } from './strain.ts'

/** What a server knows of its load. It is written in place, because every call of a handler changes it. */
export interface Gauge {
  readonly rules: SheddingRules
  readonly source: GaugeSource
  /** Handlers that run. */
  running: number
  /** Those of them that are being shed. */
  leaving: number
  /** How many runs wait for the event loop to turn. */
  waiting: number
  /** How often the server was told to stop. */
  drains: number
  /** How many of these times it has not been taken back. */
  draining: number
  /** Whether a timer measures from time to time. */
  ticking: boolean
  /** When the next tick should come. */
  due: number
  measuredAt: number
  measured: Partial<Load>
  /** By how many milliseconds ticks were late, smoothed. */
  lateMs: number
  strain: Strain
  /** Since when something has been over its soft limit. */
  strainedSince: number | undefined
  /** How many calls may be shed until the next measurement, which shows what became of it. */
  allowance: number
  readonly sheds: Record<ShedReason, number>
  refused: number
  resumed: number
}

/** Where a gauge has its time and its measurements from. */
export interface GaugeSource {
  /** Milliseconds, from any beginning. */
  readonly now: () => number
  /** Runs a function once, later, without keeping the process alive for it. */
  readonly later: (run: () => void, ms: number) => void
  readonly measure: SheddingOptions['load']
  /** Is told what a measurement failed with. */
  readonly onFailure: (error: unknown) => void
}

/** How many milliseconds lie between two measurements. */
const measureEveryMs = 100

/** A gauge that stands at nothing. */
export function createGauge(rules: SheddingRules, source: GaugeSource): Gauge {
  return {
    rules,
    source,
    running: 0,
    leaving: 0,
    waiting: 0,
    drains: 0,
    draining: 0,
    ticking: false,
    due: 0,
    measuredAt: Number.NEGATIVE_INFINITY,
    measured: {},
    lateMs: 0,
    strain: noStrain,
    strainedSince: undefined,
    allowance: 0,
    sheds: { load: 0, policy: 0, stopping: 0 },
    refused: 0,
    resumed: 0,
  }
}

/** Notes that a handler begins. It is all that a call pays which records nothing. */
export function enterCall(gauge: Gauge): void {
  gauge.running++
  if (!gauge.ticking) beginTicks(gauge)
}

/** Notes that a handler has come to its end. */
export function leaveCall(gauge: Gauge): void {
  gauge.running--
}

/** The load as it is known. */
export function loadOf(gauge: Gauge): Load {
  const { running = gauge.running - gauge.leaving, eventLoopDelayMs = gauge.lateMs, heapShare } = gauge.measured
  return { running, eventLoopDelayMs, heapShare }
}

/** Measures, unless it was done a moment ago: a loop that is blocked has no ticks. */
export function measure(gauge: Gauge): void {
  const { source, rules } = gauge
  const now = source.now()
  if (now - gauge.measuredAt < measureEveryMs) return
  gauge.measuredAt = now
  if (gauge.ticking && now >= gauge.due) gauge.lateMs = (gauge.lateMs + now - gauge.due) / 2
  gauge.measured = takeMeasurement(source)
  gauge.strain = strainOf(loadOf(gauge), rules.limits, gauge.strain)
  noteStrain(gauge, now)
  // Were all calls shed at once, the next measurement would show an idle instance among flooded ones.
  gauge.allowance = Math.max(1, Math.ceil(gauge.running / 4))
}

/** Whether the load asks for calls to be shed. The number of running calls changes with each of them, so it is looked at now. */
export function isOverloaded(gauge: Gauge): boolean {
  const before = gauge.strain.running
  gauge.strain = strainOf(loadOf(gauge), gauge.rules.limits, gauge.strain)
  if (gauge.strain.running !== before) noteStrain(gauge, gauge.source.now())
  if (gauge.strain.running && gauge.measured.running === undefined) return true
  return isStrained(gauge.strain) && gauge.allowance > 0
}

function noteStrain(gauge: Gauge, now: number): void {
  if (isStrained(gauge.strain)) gauge.strainedSince ??= now
  else gauge.strainedSince = undefined
}

function takeMeasurement({ measure: take, onFailure }: GaugeSource): Partial<Load> {
  try {
    return take === undefined ? {} : take()
  } catch (error) {
    onFailure(error)
    return {}
  }
}

function beginTicks(gauge: Gauge): void {
  gauge.ticking = true
  awaitTick(gauge)
}

function awaitTick(gauge: Gauge): void {
  gauge.due = gauge.source.now() + measureEveryMs
  gauge.source.later(() => tick(gauge), measureEveryMs)
}

function tick(gauge: Gauge): void {
  measure(gauge)
  if (gauge.running > 0) return awaitTick(gauge)
  gauge.ticking = false
  // What was measured says nothing of the time to come.
  gauge.lateMs = 0
  gauge.strain = noStrain
  gauge.strainedSince = undefined
}
