import { heavy, light } from '../primes/job.ts'
import { countChunk, emptyTally } from '../primes/tally.ts'
import { callsPerHeavyCall } from './plan.ts'

/**
 * Measures the mean CPU time of a call in milliseconds, on this machine and under its current load. It blocks the event
 * loop while it counts a light job.
 */
export function millisecondsPerCall(now: () => number = () => performance.now()): number {
  const start = now()
  let tally = emptyTally
  while (tally.next <= light.limit) tally = countChunk(tally, light.limit)
  const lightMs = now() - start
  // A prime needs trial divisions up to its square root, and primes become rarer: the sum grows with a power of about
  // 1.3.
  const heavyMs = lightMs * (heavy.limit / light.limit) ** 1.3
  return lightMs + (heavyMs - lightMs) / callsPerHeavyCall
}
