import type { Readable, Writable } from 'node:stream'
import type { Clock } from '@x/core'

/** Streams that belong together: two pipes, or the same socket twice. */
export interface StreamPair {
  readonly input: Readable
  readonly output: Writable
}

/**
 * Ends the output and waits for the peer to end the input, which is destroyed after `ms`. A socket closed with unread
 * bytes would discard the last responses to the peer. Resolves when both are closed.
 */
export function closeStreams({ input, output }: StreamPair, graceMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const forceCloseTimer = clock.setTimeout(() => {
      output.destroy()
      input.destroy()
    }, graceMs)
    const resolveWhenDone = (): void => {
      if (!isDone(input) || !(output.destroyed || output.writableFinished)) return
      clock.clearTimeout(forceCloseTimer)
      input.destroy()
      resolve()
    }
    for (const event of ['end', 'close', 'error']) input.on(event, resolveWhenDone)
    for (const event of ['finish', 'close', 'error']) output.on(event, resolveWhenDone)
    input.resume()
    if (!output.destroyed) output.end()
    resolveWhenDone()
  })
}

function isDone(input: Readable): boolean {
  return input.destroyed || input.readableEnded
}
