import type { Writable } from 'node:stream'

/**
 * Writes one message per line. Collects the output of one event-loop tick, so that many responses need one system call.
 */
export class MessageWriter {
  readonly #output: Writable
  readonly #onFull: () => void
  readonly #send: (text: string, onDone: () => void) => boolean
  #pendingText = ''
  #isScheduled = false
  #hasFailed = false
  // Bounded by `maxCalls`, as each has one response.
  readonly #pausedLines = new Set<string>()
  readonly #addedPauses: [line: string, pauseMs: number][] = []
  /** The reader is too slow. */
  #isFull = false
  #drainPromise: Promise<void> | undefined
  #resolveDrain = noop

  /**
   * `onFull` asks to write only what is necessary, because the reader is too slow, until `onDrain` is called. A pipe
   * fails when its reader exits. `send` replaces `write` of the stream.
   */
  constructor(
    output: Writable,
    {
      onFull,
      onDrain,
      onFailure,
    }: { readonly onFull: () => void; readonly onDrain: () => void; readonly onFailure: (error: unknown) => void },
    send: (text: string, onDone: () => void) => boolean = (text, onDone) => output.write(text, onDone),
  ) {
    this.#output = output
    this.#onFull = onFull
    this.#send = send
    output.on('drain', () => {
      this.#endBacklog()
      onDrain()
    })
    output.on('close', () => this.#endBacklog())
    // Stays: without a listener, a late error of the last write would end the process.
    output.on('error', (error) => {
      this.#hasFailed = true
      this.#endBacklog()
      onFailure(error)
    })
  }

  /** `line` must be one line of JSON. Does nothing after the stream has failed or ended. */
  write(line: string): void {
    if (this.#hasFailed) return
    this.#pendingText += `${line}\n`
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      if (this.#isScheduled) this.#flushNow(noop)
    })
  }

  /**
   * Writes a message after a pause, or at the next flush if that is earlier. The pause begins when the stream has taken
   * the messages before, so that they never share a chunk. Other messages are written in the meantime.
   */
  writeAfterPause(line: string, pauseMs: number): void {
    this.#pausedLines.add(line)
    this.#addedPauses.push([line, pauseMs])
    if (!this.#isScheduled) this.#beginPauses()
  }

  /** True until the stream has taken the messages of this tick. */
  hasPendingText(): boolean {
    return this.#isScheduled
  }

  /** In characters, which is close enough to bytes for limiting memory. */
  getQueuedBytes(): number {
    return this.#pendingText.length + this.#output.writableLength
  }

  /**
   * Undefined while the reader is fast enough, and once the stream has ended. The promise resolves when the reader has
   * caught up or the stream has ended.
   */
  waitForDrain(): Promise<void> | undefined {
    if (this.#isEnded()) return undefined
    // Output is written at the end of a tick; until then, this limits what is collected.
    if (this.#pendingText.length > this.#output.writableHighWaterMark) this.#isFull = true
    if (!this.#isFull) return undefined
    this.#drainPromise ??= new Promise((resolve) => {
      this.#resolveDrain = resolve
    })
    return this.#drainPromise
  }

  /** Resolves when the operating system has accepted all output, or the stream has failed. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#output.once('close', resolve)
      for (const line of this.#pausedLines) this.#releaseLine(line)
      this.#flushNow(resolve)
    })
  }

  #isEnded(): boolean {
    return this.#hasFailed || this.#output.destroyed || this.#output.writableEnded
  }

  #flushNow(onDone: () => void): void {
    this.#isScheduled = false
    const text = this.#pendingText
    this.#pendingText = ''
    this.#beginPauses()
    if (this.#isEnded()) {
      this.#endBacklog()
      return onDone()
    }
    if (this.#send(text, onDone)) return this.#endBacklog()
    this.#isFull = true
    this.#onFull()
  }

  #endBacklog(): void {
    this.#isFull = false
    this.#drainPromise = undefined
    this.#resolveDrain()
  }

  #beginPauses(): void {
    // oxlint-disable-next-line no-restricted-globals -- a pipe of the process has real time
    for (const [line, pauseMs] of this.#addedPauses.splice(0)) setTimeout(() => this.#releaseLine(line), pauseMs)
  }

  #releaseLine(line: string): void {
    if (this.#pausedLines.delete(line)) this.write(line)
  }
}

function noop(): void {}
