import type { Writable } from 'node:stream'

/** Writes messages to a stream, a line each. */
export interface MessageWriter {
  /** Sends a message that is one line of JSON. After the stream has failed or ended it does nothing. */
  write(line: string): void
  /** How much waits for the reader: characters that stand in for bytes, because the bound is there to save memory. */
  queued(): number
  /**
   * Undefined while the reader takes what it is sent, or is gone; otherwise a promise that resolves when it has caught up,
   * or has gone.
   */
  drained(): Promise<void> | undefined
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
  const backlog = createBacklog()

  const flushNow = (done: () => void): void => {
    scheduled = false
    const text = pending
    pending = ''
    if (failed || output.destroyed || output.writableEnded) {
      backlog.clear()
      return done()
    }
    if (send(text, done)) return backlog.clear()
    backlog.fill()
    events.onFull()
  }
  output.on('drain', () => {
    backlog.clear()
    events.onDrain()
  })
  output.on('close', backlog.clear)
  // The listener stays: an error of the last write may come after everything else, and would end the process.
  output.on('error', (error) => {
    failed = true
    backlog.clear()
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
    drained: () => {
      if (failed || output.destroyed || output.writableEnded) return undefined
      // What one turn brings is not handed over before its end, and must not grow without a bound until then.
      if (pending.length > output.writableHighWaterMark) backlog.fill()
      return backlog.cleared()
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

/** Whether a reader is behind, and who waits for it to catch up. */
function createBacklog(): { fill(): void; clear(): void; cleared(): Promise<void> | undefined } {
  let full = false
  let waiting: Promise<void> | undefined
  let wake = ignore
  return {
    fill: () => {
      full = true
    },
    clear: () => {
      full = false
      waiting = undefined
      wake()
    },
    cleared: () => {
      if (!full) return undefined
      waiting ??= new Promise((resolve) => {
        wake = resolve
      })
      return waiting
    },
  }
}

function ignore(): void {}
