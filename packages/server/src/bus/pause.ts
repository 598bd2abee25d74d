import type { Clock } from '@x/schema'

/** The shortest pause before a connection is opened again, in milliseconds. */
export const shortestPauseMs = 250

/** The longest one, in milliseconds. */
export const longestPauseMs = 30_000

/** How long a connection lasts that is not counted as a failure, in milliseconds. */
export const steadyMs = longestPauseMs

/** How long to wait after so many failures in a row, in milliseconds: longer each time, and for no two instances the same. */
export function pauseMs(failures: number, random: () => number): number {
  const most = Math.min(longestPauseMs, shortestPauseMs * 2 ** (failures + 1))
  return shortestPauseMs + random() * (most - shortestPauseMs)
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
