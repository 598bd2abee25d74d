import type { Writable } from 'node:stream'

/** Writes messages to a stream, one per line. */
export interface MessageWriter {
  /** Writes a message, which must be one line of JSON. Does nothing after the stream has failed or ended. */
  write(line: string): void
  /**
   * Writes a message after a pause, or at the next flush if that is earlier. The pause begins when the stream has taken
   * the messages before, so that they never share a chunk. Other messages are written in the meantime.
   */
  writeAfterPause(line: string, pauseMs: number): void
  /** Returns true if the stream has not yet taken the messages of this tick. */
  hasPendingText(): boolean
  /**
   * Returns the length of the waiting output in characters. This approximates the number of bytes, which is sufficient
   * to limit memory.
   */
  getQueuedBytes(): number
  /**
   * Returns `undefined` if the reader is fast enough, or if the stream has ended. Otherwise returns a promise that
   * resolves when the reader has caught up or the stream has ended.
   */
  waitForDrain(): Promise<void> | undefined
  /** Resolves when the operating system has accepted all output, or when the stream has failed. */
  flush(): Promise<void>
}

/** The functions that handle the events of a stream. */
export interface WriterEvents {
  /** Called when the reader is too slow. The caller should then write only necessary messages. */
  readonly onFull: () => void
  /** Called when the reader has caught up. */
  readonly onDrain: () => void
  /** Called when the stream has failed. A pipe fails when its reader exits. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Creates a writer that collects the output of one event-loop tick, so that many responses need one system call.
 *
 * The function `send` writes to the stream. Default: `write` of the stream.
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
    pausedLines.beginPauses()
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
  const pausedLines = createPausedLines(write, () => isScheduled)
  output.on('drain', () => {
    backlog.clear()
    events.onDrain()
  })
  output.on('close', backlog.clear)
  // The listener stays: without one, a late error of the last write would end the process.
  output.on('error', (error) => {
    hasFailed = true
    backlog.clear()
    events.onFailure(error)
  })
  return {
    write,
    writeAfterPause: pausedLines.add,
    hasPendingText: () => isScheduled,
    waitForDrain: () => {
      if (hasFailed || output.destroyed || output.writableEnded) return undefined
      // The output of one tick is written at its end. This check limits the output that is collected until then.
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

/**
 * Creates a set of lines. Each line is written after its pause, or earlier when all lines are released. While
 * `hasPendingText` returns true, pauses begin with `beginPauses`.
 */
function createPausedLines(
  write: (line: string) => void,
  hasPendingText: () => boolean,
): {
  add(line: string, pauseMs: number): void
  beginPauses(): void
  releaseAll(): void
} {
  const lines = new Set<string>()
  const addedPauses: [line: string, pauseMs: number][] = []
  const beginPauses = (): void => {
    if (addedPauses.length === 0) return
    // oxlint-disable-next-line no-restricted-globals -- a pipe of the process has real time
    for (const [line, pauseMs] of addedPauses.splice(0)) setTimeout(releaseLine, pauseMs, line)
  }
  const releaseLine = (line: string): void => {
    if (lines.delete(line)) write(line)
  }
  return {
    add: (line, pauseMs) => {
      lines.add(line)
      addedPauses.push([line, pauseMs])
      if (!hasPendingText()) beginPauses()
    },
    beginPauses,
    releaseAll: () => {
      for (const line of lines) releaseLine(line)
    },
  }
}

/** Records if the reader is too slow. `waitForClear` then returns a promise that resolves when it has caught up. */
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
