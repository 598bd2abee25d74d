import type { Clock } from '@x/schema'
import { BusError, unavailable } from './bus-error.ts'

/** What is waited for, and for how long. */
export interface Limit {
  /** What the log calls whom is waited for. */
  readonly name: string
  readonly ms: number
  readonly clock: Clock
  /** What to do about it when it takes too long; ends the message. */
  readonly advice: string
}

/**
 * Does work of a driver within a time limit: drivers wait, some for ever, while they are not connected. At the limit the work's signal aborts.
 *
 * @throws BusError with `unavailable`, whatever the driver threw.
 */
export async function inTime<T>(limit: Limit, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { name, ms, clock, advice } = limit
  const controller = new AbortController()
  let timer: unknown
  const late = new Promise<never>((_, reject) => {
    timer = clock.setTimeout(() => {
      reject(new BusError('unavailable', `${name} did not answer within ${ms} ms: ${advice}`))
      controller.abort()
    }, ms)
  })
  try {
    return await Promise.race([work(controller.signal), late])
  } catch (error) {
    throw unavailable(name, error)
  } finally {
    clock.clearTimeout(timer)
  }
}
