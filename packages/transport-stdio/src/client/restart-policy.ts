import type { Clock } from '@x/core'
import { StdioError } from '../stdio-error.ts'
import type { RestartOptions } from './options.ts'

/** Counts consecutive exits of a process, and decides when the process may be restarted. */
export interface RestartPolicy {
  /** Records that a process which started at `startedAt` has exited. */
  recordExit(reason: StdioError, startedAt: number): void
  /**
   * Returns the delay before the next start in milliseconds. Throws {@link StdioError} `restarts` if no restart is
   * allowed. If the server implements only earlier revisions, throws the error of its last exit.
   */
  computePauseMs(): number
}

/** Creates a restart policy. With `false` it allows no restart. */
export function createRestartPolicy(restart: false | RestartOptions, clock: Clock): RestartPolicy {
  const {
    limit = 5,
    pauseMs = 100,
    maxPauseMs = 10_000,
    healthyAfterMs = 60_000,
  } = restart === false ? { limit: 1 } : restart
  let exitCount = 0
  let resumeAt = 0
  let lastError: StdioError | undefined
  return {
    recordExit: (reason, startedAt) => {
      const now = clock.monotonicNow()
      exitCount = now - startedAt >= healthyAfterMs ? 1 : exitCount + 1
      resumeAt = now + Math.min(pauseMs * 2 ** (exitCount - 1), maxPauseMs)
      lastError = reason
    },
    computePauseMs: () => {
      if (lastError === undefined) return 0
      // A restart would start the same program again, which still implements only earlier revisions.
      if (lastError.code === 'unsupported_version') throw lastError
      if (exitCount >= limit) throw restartsExhaustedError(exitCount, lastError)
      return Math.max(0, resumeAt - clock.monotonicNow())
    },
  }
}

function restartsExhaustedError(exitCount: number, lastError: StdioError): StdioError {
  const frequency = exitCount === 1 ? 'once' : `${exitCount} times in a row`
  const message = `The server's process ended ${frequency} and is not started again; the last time: ${lastError.message}`
  const { exitCode, signal, stderr } = lastError
  return new StdioError('restarts', message, { exitCode, signal, stderr, cause: lastError })
}
