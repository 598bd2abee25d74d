import type { Clock } from '../runtime.ts'

/** The shortest pause before a connection is opened again, in milliseconds. */
export const minReconnectDelayMs = 250

/** The longest one, in milliseconds. */
export const maxReconnectDelayMs = 30_000

/** The lifetime of a connection that does not count as a failure, in milliseconds. */
export const healthyAfterMs = maxReconnectDelayMs

/** Returns the milliseconds to wait after a number of consecutive failures: longer each time, with jitter. */
export function reconnectDelayMs(failures: number, random: () => number): number {
  const currentMaxDelayMs = Math.min(maxReconnectDelayMs, minReconnectDelayMs * 2 ** (failures + 1))
  return minReconnectDelayMs + random() * (currentMaxDelayMs - minReconnectDelayMs)
}

/** A wait that can be cut short. */
export interface InterruptibleSleep {
  /** Resolves after the time, or when {@link InterruptibleSleep.end} is called. */
  wait(ms: number): Promise<void>
  /** Ends the wait that is under way. */
  end(): void
}

/** Makes a {@link InterruptibleSleep}; one wait at a time. */
export function createInterruptibleSleep(clock: Clock): InterruptibleSleep {
  let endSleep = (): void => {}
  return {
    wait: (ms) =>
      new Promise((resolve) => {
        const timer = clock.setTimeout(resolve, ms)
        endSleep = () => {
          clock.clearTimeout(timer)
          resolve()
        }
      }),
    end: () => endSleep(),
  }
}
