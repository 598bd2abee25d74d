import type { Readable, Writable } from 'node:stream'

/** The streams of a person's terminal. */
export interface Terminal {
  readonly input: Readable
  readonly output: Writable
  /** Takes the question away. */
  readonly signal: AbortSignal
}
