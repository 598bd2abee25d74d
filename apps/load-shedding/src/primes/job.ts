import { isJsonObject } from '@x/schema'

/** What a call asks for, and what its result has to be. */
export interface Job {
  readonly size: 'light' | 'heavy'
  readonly limit: number
  readonly primes: number
  readonly checksum: string
}

/** A tenth of a second of computing, or so. */
export const light: Job = { size: 'light', limit: 2_000_000, primes: 148_933, checksum: 'b83f589d' }

/** A second of computing, or so. */
export const heavy: Job = { size: 'heavy', limit: 10_000_000, primes: 664_579, checksum: 'f2bb2e9b' }

/** Whether a structured result says what it has to. */
export function isRight(job: Job, result: unknown): boolean {
  if (!isJsonObject(result)) return false
  return result['limit'] === job.limit && result['primes'] === job.primes && result['checksum'] === job.checksum
}
