import { heavy, type Job, light } from '../primes/job.ts'

/** A planned call. */
export interface Arrival {
  /** The time since the previous arrival, in milliseconds. */
  readonly afterMs: number
  readonly job: Job
}

/** One of this number of calls is heavy, on average. */
export const callsPerHeavyCall = 4

/**
 * Creates an endless plan of calls by independent clients: a Poisson process with limited intervals, in which one in
 * four calls is heavy. A seed determines the plan.
 */
export function createPlan(seed: number): (perSecond: number) => Arrival {
  const random = randomFrom(seed)
  return (perSecond) => ({
    // Exponential intervals, limited to four times the mean so that the fleet is never idle for long.
    afterMs: (Math.min(-Math.log(1 - random()), 4) * 1000) / perSecond,
    job: random() * callsPerHeavyCall < 1 ? heavy : light,
  })
}

/** Creates a Mulberry32 generator, whose values are the same on every platform. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
