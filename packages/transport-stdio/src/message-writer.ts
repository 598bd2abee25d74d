import type { Writable } from 'node:stream'

/** Writes messages to a stream, one per line. */
export interface MessageWriter {
  /** Writes a message that is one line of JSON. After the stream has failed or ended it does nothing. */
  write(line: string): void
  /** Writes a message after a pause, or with the next flush. Other messages do not wait for it. */
  writeAfterPause(line: string, pauseMs: number): void
  /** The amount of queued output in characters, an approximation of bytes that suffices to bound memory. */
  getQueuedBytes(): number
  /**
   * Returns `undefined` while the reader keeps up or the stream has ended. Otherwise it returns a promise that resolves
   * when the reader has caught up or the stream has ended.
   */
  waitForDrain(): Promise<void> | undefined
  /** Resolves when all output is handed to the operating system, or the stream has failed. */
  flush(): Promise<void>
}

/** Handlers of stream events. */
export interface WriterEvents {
  /** Called when the reader is slow: write only what is required. */
  readonly onFull: () => void
  /** Called when the reader has caught up. */
  readonly onDrain: () => void
  /** Called when the stream has failed, as a pipe does when its reader exits. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Creates a writer that batches the output of one event-loop tick: a burst of responses costs one system call.
 *
 * `send` is the stream's own `write` unless another is given.
 */
export function createMessageWriter(
  output: Writable,
  events: WriterEvents,
  send: (text: string, onDone: () => void) => boolean = (text, onDone) => output.write(text, onDone),
): MessageWriter {
  let pendingText = ''
  let isScheduled = false
  let hasFailed = false
  const backlog = createBacklog()

  const flushNow = (onDone: () => void): void => {
    isScheduled = false
    const text = pendingText
    pendingText = ''
    if (hasFailed || output.destroyed || output.writableEnded) {
      backlog.clear()
      return onDone()
    }
    if (send(text, onDone)) return backlog.clear()
    backlog.markFull()
    events.onFull()
  }
  const write = (line: string): void => {
    if (hasFailed) return
    pendingText += `${line}\n`
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      if (isScheduled) flushNow(noop)
    })
  }
  const pausedLines = createPausedLines(write)
  output.on('drain', () => {
    backlog.clear()
    events.onDrain()
  })
  output.on('close', backlog.clear)
  // The listener stays: an error of the last write may arrive later, and would end the process.
  output.on('error', (error) => {
    hasFailed = true
    backlog.clear()
    events.onFailure(error)
  })
  return {
    write,
    writeAfterPause: pausedLines.add,
    waitForDrain: () => {
      if (hasFailed || output.destroyed || output.writableEnded) return undefined
      // Output of one tick is written at its end, and must not grow without a limit until then.
      if (pendingText.length > output.writableHighWaterMark) backlog.markFull()
      return backlog.waitForClear()
    },
    getQueuedBytes: () => pendingText.length + output.writableLength,
    flush: () =>
      new Promise((resolve) => {
        output.once('close', resolve)
        pausedLines.releaseAll()
        flushNow(resolve)
      }),
  }
}

/** Holds lines that are written after a pause, or all at once. */
function createPausedLines(write: (line: string) => void): {
  add(line: string, pauseMs: number): void
  releaseAll(): void
} {
  const lines = new Set<string>()
  const releaseLine = (line: string): void => {
    if (lines.delete(line)) write(line)
  }
  return {
    add: (line, pauseMs) => {
      lines.add(line)
      setTimeout(releaseLine, pauseMs, line)
    },
    releaseAll: () => {
      for (const line of lines) releaseLine(line)
    },
  }
}

/** Tracks if the reader is behind, and resolves a promise when it has caught up. */
function createBacklog(): { markFull(): void; clear(): void; waitForClear(): Promise<void> | undefined } {
  let isFull = false
  let clearedPromise: Promise<void> | undefined
  let resolveCleared = noop
  return {
    markFull: () => {
      isFull = true
    },
    clear: () => {
      isFull = false
      clearedPromise = undefined
      resolveCleared()
    },
    waitForClear: () => {
      if (!isFull) return undefined
      clearedPromise ??= new Promise((resolve) => {
        resolveCleared = resolve
      })
      return clearedPromise
    },
  }
}

function noop(): void {}
