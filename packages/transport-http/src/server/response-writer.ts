import type { MessagePieces } from '@x/schema'

/** A whole HTTP answer: `headers` is flat (name, value, name, value …), a `body` is JSON, whole or in pieces. */
export interface Answer {
  readonly status: number
  readonly headers: readonly string[]
  readonly body?: string | MessagePieces | undefined
  /** True when the peer should open another connection for its next request, where the platform can say so. */
  readonly hasConnectionClose?: boolean | undefined
}

/**
 * The writer of responses: each function takes the target, a platform's record of the request that is answered. For a
 * target there is either `send` once, or `open`, any number of `write`, and `end`. After the peer has gone, or after
 * the answer is out, every function does nothing.
 */
export interface ResponseWriter<Target = unknown> {
  send(target: Target, answer: Answer): void
  /** Starts an event stream with these headers, flat. */
  open(target: Target, headers: readonly string[]): void
  write(target: Target, text: string): void
  end(target: Target, text: string): void
  /** Bytes that were written and that the peer has not taken yet. */
  queued(target: Target): number
  /** Resolves when the peer has taken what was written, or has gone; undefined when there is nothing to wait for. */
  drained(target: Target): Promise<void> | undefined
  /** Breaks the connection off, so that the peer sees that the stream was not finished. */
  destroy(target: Target): void
  /** Calls back once when the peer has gone or the answer is out, whichever is first. */
  onClose(target: Target, run: () => void): void
}
