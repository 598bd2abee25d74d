import type { Clock } from '@x/core'
import { StdioError } from '../stdio-error.ts'

const maxConsecutiveExits = 5

/** Doubles with each failure in a row. */
const firstPauseMs = 100

const healthyAfterMs = 60_000

/** Counts failures in a row, and decides whether and when to restart. */
export class RestartPolicy {
  readonly #maxExits: number
  readonly #clock: Clock
  #exitCount = 0
  #resumeAt = 0
  #lastError: StdioError | undefined

  /** With `false`, nothing is restarted. */
  constructor(restart: false | undefined, clock: Clock) {
    this.#maxExits = restart === false ? 1 : maxConsecutiveExits
    this.#clock = clock
  }

  /** A process that started at `startedAt` has exited. */
  recordExit(reason: StdioError, startedAt: number): void {
    const now = this.#clock.monotonicNow()
    this.#exitCount = now - startedAt >= healthyAfterMs ? 1 : this.#exitCount + 1
    this.#resumeAt = now + firstPauseMs * 2 ** (this.#exitCount - 1)
    this.#lastError = reason
  }

  /**
   * Milliseconds until the next start. Throws {@link StdioError} `restarts` if there is none, or the error of the last
   * exit if the server implements only earlier revisions or never answered.
   */
  computePauseMs(): number {
    const lastError = this.#lastError
    if (lastError === undefined) return 0
    // Another start would run the same program: one for earlier revisions, or one that ends at once.
    if (lastError.code === 'unsupported_version' || lastError.code === 'restarts') throw lastError
    if (this.#exitCount >= this.#maxExits) throw restartsExhaustedError(this.#exitCount, lastError)
    return Math.max(0, this.#resumeAt - this.#clock.monotonicNow())
  }
}

function restartsExhaustedError(exitCount: number, lastError: StdioError): StdioError {
  const frequency = exitCount === 1 ? 'once' : `${exitCount} times in a row`
  const message = `The server's process ended ${frequency}; the last time: ${lastError.message}`
  const { exitCode, signal, stderr } = lastError
  return new StdioError('restarts', message, { exitCode, signal, stderr, cause: lastError })
}
