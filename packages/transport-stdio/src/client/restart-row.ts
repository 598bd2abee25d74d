import type { Clock } from '@x/schema'
import { StdioError } from '../stdio-error.ts'
import type { RestartOptions } from './options.ts'

/** How often a process has ended in a row, and when it may be started again. */
export interface RestartRow {
  /** A process ended that ran since `startedAt`, for this reason. */
  add(reason: StdioError, startedAt: number): void
  /** How many milliseconds to wait before the next start; throws {@link StdioError} `restarts` when there is to be none. */
  pauseMs(): number
}

/** A row of ends; `false` ends with the first. */
export function createRestartRow(restart: false | RestartOptions, clock: Clock): RestartRow {
  const {
    limit = 5,
    pauseMs = 100,
    maxPauseMs = 10_000,
    steadyMs = 60_000,
  } = restart === false ? { limit: 1 } : restart
  let ends = 0
  let resumeAt = 0
  let last: StdioError | undefined
  return {
    add: (reason, startedAt) => {
      const now = clock.now()
      ends = now - startedAt >= steadyMs ? 1 : ends + 1
      resumeAt = now + Math.min(pauseMs * 2 ** (ends - 1), maxPauseMs)
      last = reason
    },
    pauseMs: () => {
      if (last === undefined) return 0
      if (ends >= limit) throw givenUp(ends, last)
      return Math.max(0, resumeAt - clock.now())
    },
  }
}

function givenUp(ends: number, last: StdioError): StdioError {
  const often = ends === 1 ? 'once' : `${ends} times in a row`
  const message = `The server's process ended ${often} and is not started again; the last time: ${last.message}`
  const { exitCode, signal, stderr } = last
  return new StdioError('restarts', message, { exitCode, signal, stderr, cause: last })
}
