import { heavy, type Job, light } from '../primes/job.ts'

/** A call that is to be made. */
export interface Arrival {
  /** Milliseconds after the one before. */
  readonly afterMs: number
  readonly job: Job
}

/** Of so many calls one is heavy, on average. */
export const callsPerHeavyCall = 4

/**
 * Calls of independent clients, without end: the pauses between them are random, so that they come in clusters, and now
 * and then one is heavy. The same seed gives the same calls.
 */
export function createPlan(seed: number): (perSecond: number) => Arrival {
  const random = randomFrom(seed)
  return (perSecond) => ({
    // Exponential pauses, but for none that would leave everything idle.
    afterMs: (Math.min(-Math.log(1 - random()), 4) * 1000) / perSecond,
    job: random() * callsPerHeavyCall < 1 ? heavy : light,
  })
}

/** Mulberry32: small, and the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
