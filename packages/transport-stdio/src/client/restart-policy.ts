import type { Clock } from '@x/core'
import { StdioError } from '../stdio-error.ts'

const maxConsecutiveExits = 5

/** Doubles with each failure in a row. */
const firstPauseMs = 100

const healthyAfterMs = 60_000

/** Counts failures in a row, and decides whether and when to restart. */
export interface RestartPolicy {
  /** A process that started at `startedAt` has exited. */
  recordExit(reason: StdioError, startedAt: number): void
  /**
   * Milliseconds until the next start. Throws {@link StdioError} `restarts` if there is none, or the error of the last
   * exit if the server implements only earlier revisions or never answered.
   */
  computePauseMs(): number
}

/** With `false`, nothing is restarted. */
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
      // Another start would run the same program: one for earlier revisions, or one that ends at once.
      if (lastError.code === 'unsupported_version' || lastError.code === 'restarts') throw lastError
      if (exitCount >= maxExits) throw restartsExhaustedError(exitCount, lastError)
      return Math.max(0, resumeAt - clock.monotonicNow())
    },
  }
}

function restartsExhaustedError(exitCount: number, lastError: StdioError): StdioError {
  const frequency = exitCount === 1 ? 'once' : `${exitCount} times in a row`
  const message = `The server's process ended ${frequency}, and this connection does not start it again; the last time: ${lastError.message}`
  const { exitCode, signal, stderr } = lastError
  return new StdioError('restarts', message, { exitCode, signal, stderr, cause: lastError })
}
