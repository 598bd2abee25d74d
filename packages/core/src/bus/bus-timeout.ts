import type { Clock } from '../runtime.ts'
import { BusError, busUnavailable } from './change-bus.ts'

/** The parameters of a time limit. */
export interface BusTimeoutOptions {
  /** The name of the other side in logs. */
  readonly name: string
  readonly ms: number
  readonly clock: Clock
  /** The advice at the end of the message when the limit is exceeded. */
  readonly advice: string
}

/**
 * Runs work of a driver within a time limit: some drivers wait for ever while they are not connected. At the limit the
 * work's signal aborts.
 *
 * @throws BusError with `unavailable`, whatever the driver threw.
 */
export async function withBusTimeout<T>(
  timeoutOptions: BusTimeoutOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { name, ms, clock, advice } = timeoutOptions
  const controller = new AbortController()
  let timer: unknown
  const timeoutPromise = new Promise<never>((_, reject) => {
    timer = clock.setTimeout(() => {
      reject(new BusError('unavailable', `${name} did not answer within ${ms} ms: ${advice}`))
      controller.abort()
    }, ms)
  })
  try {
    return await Promise.race([work(controller.signal), timeoutPromise])
  } catch (error) {
    throw busUnavailable(name, error)
  } finally {
    clock.clearTimeout(timer)
  }
}
