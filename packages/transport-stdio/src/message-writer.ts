import type { Writable } from 'node:stream'

/** Writes one message per line. */
export interface MessageWriter {
  /** `line` must be one line of JSON. Does nothing after the stream has failed or ended. */
  write(line: string): void
  /**
   * Writes a message after a pause, or at the next flush if that is earlier. The pause begins when the stream has taken
   * the messages before, so that they never share a chunk. Other messages are written in the meantime.
   */
  writeAfterPause(line: string, pauseMs: number): void
  /** True until the stream has taken the messages of this tick. */
  hasPendingText(): boolean
  /** In characters, which is close enough to bytes for limiting memory. */
  getQueuedBytes(): number
  /**
   * Undefined while the reader is fast enough, and once the stream has ended. The promise resolves when the reader has
   * caught up or the stream has ended.
   */
  waitForDrain(): Promise<void> | undefined
  /** Resolves when the operating system has accepted all output, or the stream has failed. */
  flush(): Promise<void>
}

export interface WriterEvents {
  /** The reader is too slow: write only what is necessary. */
  readonly onFull: () => void
  /** The reader has caught up. */
  readonly onDrain: () => void
  /** A pipe fails when its reader exits. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Collects the output of one event-loop tick, so that many responses need one system call. `send` replaces `write` of
 * the stream.
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
  // Stays: without a listener, a late error of the last write would end the process.
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
      // Output is written at the end of a tick; until then, this limits what is collected.
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
 * Each line is written after its pause, or when all are released. While `hasPendingText` returns true, `beginPauses`
 * begins the pauses.
 */
function createPausedLines(
  write: (line: string) => void,
  hasPendingText: () => boolean,
): {
  add(line: string, pauseMs: number): void
  beginPauses(): void
  releaseAll(): void
} {
  // Bounded by `maxCalls`, as each has one response.
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
