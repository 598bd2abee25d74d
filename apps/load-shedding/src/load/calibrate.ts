import { heavy, light } from '../primes/job.ts'
import { countChunk, emptyTally } from '../primes/tally.ts'
import { callsPerHeavyCall } from './plan.ts'

/**
 * For how many milliseconds one call of the plan computes on this machine, on average, as it is now: with what else
 * runs on it. It takes about a quarter of a second, in which this process does nothing else.
 */
export function millisecondsPerCall(now: () => number = () => performance.now()): number {
  const start = now()
  let tally = emptyTally
  while (tally.next <= light.limit) tally = countChunk(tally, light.limit)
  const lightMs = now() - start
  // Of trial divisions a number needs as many as its root.
  const heavyMs = lightMs * (heavy.limit / light.limit) ** 1.3
  return lightMs + (heavyMs - lightMs) / callsPerHeavyCall
}
