import type { Readable, Writable } from 'node:stream'
import type { Clock } from '@x/schema'

/** Streams that belong together: two pipes, or the same socket twice. */
export interface StreamPair {
  readonly input: Readable
  readonly output: Writable
}

/**
 * Ends the output and waits for the peer to end the input, which is destroyed after `ms`. A socket closed with unread
 * bytes would discard the last responses to the peer. Resolves when both are closed.
 */
export function closeStreams({ input, output }: StreamPair, ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cut = clock.setTimeout(() => {
      output.destroy()
      input.destroy()
    }, ms)
    const check = (): void => {
      if (!isDone(input) || !(output.destroyed || output.writableFinished)) return
      clock.clearTimeout(cut)
      input.destroy()
      resolve()
    }
    for (const event of ['end', 'close', 'error']) input.on(event, check)
    for (const event of ['finish', 'close', 'error']) output.on(event, check)
    input.resume()
    if (!output.destroyed) output.end()
    check()
  })
}

function isDone(input: Readable): boolean {
  return input.destroyed || input.readableEnded
}
