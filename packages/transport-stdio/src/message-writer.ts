import type { Writable } from 'node:stream'

/** Writes messages to a stream, a line each. */
export interface MessageWriter {
  /** Sends a message that is one line of JSON. After the stream has failed or ended it does nothing. */
  write(line: string): void
  /** How much waits for the reader: characters that stand in for bytes, because the bound is there to save memory. */
  queued(): number
  /** Resolves when everything is handed to the system, or the stream has failed. */
  flush(): Promise<void>
}

/** Who hears of the state of the stream. */
export interface WriterEvents {
  /** The reader is slow: send no more than has to be. */
  readonly onFull: () => void
  /** The reader has caught up. */
  readonly onDrain: () => void
  /** The stream has failed, as a pipe does whose reader is gone. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Writes what one turn of the event loop brings at its end, in one piece: a burst of answers costs one call of the system.
 *
 * `send` is the stream's own `write` unless another is given.
 */
export function messageWriter(
  output: Writable,
  events: WriterEvents,
  send: (text: string, done: () => void) => boolean = (text, done) => output.write(text, done),
): MessageWriter {
  let pending = ''
  let scheduled = false
  let failed = false

  const flushNow = (done: () => void): void => {
    scheduled = false
    const text = pending
    pending = ''
    if (failed || output.destroyed || output.writableEnded) return done()
    if (!send(text, done)) events.onFull()
  }
  output.on('drain', events.onDrain)
  // The listener stays: an error of the last write may come after everything else, and would end the process.
  output.on('error', (error) => {
    failed = true
    events.onFailure(error)
  })
  return {
    write: (line) => {
      if (failed) return
      pending += line
      pending += '\n'
      if (scheduled) return
      scheduled = true
      setImmediate(() => {
        if (scheduled) flushNow(ignore)
      })
    },
    queued: () => pending.length + output.writableLength,
    flush: () =>
      new Promise((resolve) => {
        output.once('close', resolve)
        flushNow(() => {
          output.off('close', resolve)
          resolve()
        })
      }),
  }
}

function ignore(): void {}
