import { isJsonObject } from '@x/schema'

/** The arguments of a call, with the expected result. */
export interface Job {
  readonly size: 'light' | 'heavy'
  readonly limit: number
  readonly primes: number
  readonly checksum: string
}

/** A twentieth of a second of computing, or so. */
export const light: Job = { size: 'light', limit: 1_000_000, primes: 78_498, checksum: '03ae3d90' }

/** Half a second of computing, or so. */
export const heavy: Job = { size: 'heavy', limit: 6_000_000, primes: 412_849, checksum: '16ef5725' }

/** Returns true if a structured result is as expected. */
export function isExpectedResult(job: Job, result: unknown): boolean {
  if (!isJsonObject(result)) return false
  return result['limit'] === job.limit && result['primes'] === job.primes && result['checksum'] === job.checksum
}
