import type { Readable, Writable } from 'node:stream'

/** Where a person sits. */
export interface Terminal {
  readonly input: Readable
  readonly output: Writable
  /** Takes the question away. */
  readonly signal: AbortSignal
}
