import { isBeyond } from './admit-call.ts'
import { type Gauge, loadOf, measure } from './gauge.ts'
import type { ServerLoad } from './shedding-options.ts'

/** What a server shows of its load, and how it is told to stop. */
export interface LoadView {
  /** How the server is doing now. */
  readonly load: ServerLoad
  /**
   * Tells the server that it is about to stop: `load.ready` is false from now on, and every call that runs and may move does so
   * at the end of its step or at its next checkpoint. Calls that still come are served, and move on after `minWorkMs`, or when
   * `drain` is called again. Streams of changes are left to the transport.
   *
   * Gives a function that takes it back, for a server that goes on somewhere else, as on another port.
   */
  drain(): () => void
}

/** Gives a server the view of its load, which is another one whenever somebody looks. */
export function showLoad<T extends object>(server: T, gauge: Gauge): T & LoadView {
  defineLoad(server, gauge)
  return server
}

function defineLoad<T extends object>(server: T, gauge: Gauge): asserts server is T & LoadView {
  Object.defineProperty(server, 'load', { get: () => serverLoad(gauge), enumerable: true })
  Object.defineProperty(server, 'drain', { value: () => beginDrain(gauge), enumerable: true })
}

/** For how long a server may be over a soft limit before balancers should pass it over. */
const patienceMs = 5000

function beginDrain(gauge: Gauge): () => void {
  let lasts = true
  gauge.drains++
  gauge.draining++
  return () => {
    if (lasts) gauge.draining--
    lasts = false
  }
}

/** A snapshot of a server's load. */
export function serverLoad(gauge: Gauge): ServerLoad {
  measure(gauge)
  const { sheds, refused, resumed } = gauge
  const draining = gauge.draining > 0
  return {
    ready: !draining && !isBeyond(gauge, 1) && !isStrainedForLong(gauge),
    draining,
    ...loadOf(gauge),
    counters: { sheds: { ...sheds }, refused, resumed },
  }
}

function isStrainedForLong({ strainedSince, source }: Gauge): boolean {
  return strainedSince !== undefined && source.now() - strainedSince >= patienceMs
}
