import type { Clock } from '@x/schema'

/** The shortest pause before a connection is opened again, in milliseconds. */
export const shortestPauseMs = 250

/** The longest one, in milliseconds. */
export const longestPauseMs = 30_000

/** The lifetime of a connection that does not count as a failure, in milliseconds. */
export const healthyAfterMs = longestPauseMs

/** Returns the milliseconds to wait after a number of consecutive failures: longer each time, with jitter. */
export function reconnectPause(failures: number, random: () => number): number {
  const longestMs = Math.min(longestPauseMs, shortestPauseMs * 2 ** (failures + 1))
  return shortestPauseMs + random() * (longestMs - shortestPauseMs)
}

/** A wait that can be cut short. */
export interface Pause {
  /** Resolves after the time, or when {@link Pause.end} is called. */
  wait(ms: number): Promise<void>
  /** Ends the wait that is under way. */
  end(): void
}

/** Makes a {@link Pause}; one wait at a time. */
export function createPause(clock: Clock): Pause {
  let end = (): void => {}
  return {
    wait: (ms) =>
      new Promise((resolve) => {
        const timer = clock.setTimeout(resolve, ms)
        end = () => {
          clock.clearTimeout(timer)
          resolve()
        }
      }),
    end: () => end(),
  }
}
