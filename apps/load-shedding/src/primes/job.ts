import { isJsonObject } from '@x/schema'

/** The argument of a call, and its expected result. */
export interface Job {
  readonly size: 'light' | 'heavy'
  readonly limit: number
  readonly primes: number
  readonly checksum: string
}

/** A job of about 50 ms of CPU time. */
export const light: Job = { size: 'light', limit: 1_000_000, primes: 78_498, checksum: '03ae3d90' }

/** A job of about 500 ms of CPU time. */
export const heavy: Job = { size: 'heavy', limit: 6_000_000, primes: 412_849, checksum: '16ef5725' }

/** Returns true if a structured result is the expected one. */
export function isExpectedResult(job: Job, result: unknown): boolean {
  if (!isJsonObject(result)) return false
  return result['limit'] === job.limit && result['primes'] === job.primes && result['checksum'] === job.checksum
}
