import type { Clock } from '@x/schema'
import { StdioError } from '../stdio-error.ts'
import type { RestartOptions } from './options.ts'

/** Counts consecutive exits of a process, and decides when it may restart. */
export interface RestartPolicy {
  /** Records an exit of a process that started at `startedAt`, with its reason. */
  add(reason: StdioError, startedAt: number): void
  /**
   * Returns the delay before the next start in milliseconds; throws {@link StdioError} `restarts` when no restart is
   * allowed, and the reason of the last exit again for a server of an earlier revision.
   */
  pauseMs(): number
}

/** Creates a restart policy; `false` allows no restart. */
export function createRestartPolicy(restart: false | RestartOptions, clock: Clock): RestartPolicy {
  const {
    limit = 5,
    pauseMs = 100,
    maxPauseMs = 10_000,
    healthyAfterMs = 60_000,
  } = restart === false ? { limit: 1 } : restart
  let ends = 0
  let resumeAt = 0
  let last: StdioError | undefined
  return {
    add: (reason, startedAt) => {
      const now = clock.now()
      ends = now - startedAt >= healthyAfterMs ? 1 : ends + 1
      resumeAt = now + Math.min(pauseMs * 2 ** (ends - 1), maxPauseMs)
      last = reason
    },
    pauseMs: () => {
      if (last === undefined) return 0
      // It would be the same program again.
      if (last.code === 'unsupported_version') throw last
      if (ends >= limit) throw restartsExhausted(ends, last)
      return Math.max(0, resumeAt - clock.now())
    },
  }
}

function restartsExhausted(ends: number, last: StdioError): StdioError {
  const often = ends === 1 ? 'once' : `${ends} times in a row`
  const message = `The server's process ended ${often} and is not started again; the last time: ${last.message}`
  const { exitCode, signal, stderr } = last
  return new StdioError('restarts', message, { exitCode, signal, stderr, cause: last })
}
