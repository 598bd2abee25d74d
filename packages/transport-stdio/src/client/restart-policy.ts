import type { Clock } from '@x/core'
import { StdioError } from '../stdio-error.ts'

/** The number of consecutive exits after which the process is not started again. */
const maxConsecutiveExits = 5

/** The pause before the first restart. It doubles with each consecutive exit. */
const firstPauseMs = 100

/** The run time after which an exit counts as the first one again. */
const healthyAfterMs = 60_000

/** Counts consecutive exits of a process, and decides when the process may be restarted. */
export interface RestartPolicy {
  /** Records that a process which started at `startedAt` has exited. */
  recordExit(reason: StdioError, startedAt: number): void
  /**
   * Returns the delay before the next start in milliseconds. Throws {@link StdioError} `restarts` if no restart is
   * allowed. If the server implements only earlier revisions or never answered, throws the error of its last exit.
   */
  computePauseMs(): number
}

/** Creates a restart policy. With `false` it allows no restart. */
export function createRestartPolicy(restart: false | undefined, clock: Clock): RestartPolicy {
  const maxExits = restart === false ? 1 : maxConsecutiveExits
  let exitCount = 0
  let resumeAt = 0
  let lastError: StdioError | undefined
  return {
    recordExit: (reason, startedAt) => {
      const now = clock.monotonicNow()
      exitCount = now - startedAt >= healthyAfterMs ? 1 : exitCount + 1
      resumeAt = now + firstPauseMs * 2 ** (exitCount - 1)
      lastError = reason
    },
    computePauseMs: () => {
      if (lastError === undefined) return 0
      // A restart would start the same program again, which implements only earlier revisions, or ends at once.
      if (lastError.code === 'unsupported_version' || lastError.code === 'restarts') throw lastError
      if (exitCount >= maxExits) throw restartsExhaustedError(exitCount, lastError)
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
