import type { Readable, Writable } from 'node:stream'
import type { Clock } from '@x/core'

/** Two streams that form one connection: two pipes, or one socket as both streams. */
export interface StreamPair {
  readonly input: Readable
  readonly output: Writable
}

/**
 * Ends the output, and reads on until the peer ends its side: if a socket were closed with unread bytes, the peer would
 * lose the last responses. After `graceMs` both streams are destroyed. Resolves when both are closed.
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
