import type { Readable } from 'node:stream'
import { type LineSink, createLineSplitter } from './line-splitter.ts'

/** The control of a stream that is being read. */
export interface LineReader {
  /**
   * Pauses reading until {@link LineReader.resume} is called. The remaining lines of the current chunk are still passed
   * on.
   */
  pause(): void
  resume(): void
  /** Stops reading permanently. */
  stop(): void
}

/** The functions that receive the lines and the end of a stream. */
export interface LineReaderEvents extends LineSink {
  /** Called when the stream has ended or failed. `error` is set if it has failed. */
  readonly onEnd: (error?: unknown) => void
}

/** Starts to read a stream line by line, until the stream ends or `stop` is called. */
export function readLines(input: Readable, maxLineBytes: number, events: LineReaderEvents): LineReader {
  let isFinished = false
  const lineSplitter = createLineSplitter(maxLineBytes, {
    onLine: (text) => {
      if (!isFinished) events.onLine(text)
    },
    onSkipped: (skippedLine) => {
      if (!isFinished) events.onSkipped(skippedLine)
    },
  })
  // Chunks are strings if the program has set an encoding on the stream, which is common for stdin.
  const takeChunk = (chunk: Buffer | string): void =>
    lineSplitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  const finish = (error?: unknown): void => {
    if (isFinished) return
    lineSplitter.end()
    isFinished = true
    events.onEnd(error)
  }
  const onInputEnd = (): void => finish()
  // The listeners for the end and for errors are never removed, because a late error without a listener would end the
  // process.
  input.on('data', takeChunk).on('end', onInputEnd).on('close', onInputEnd).on('error', finish)
  return {
    pause: () => void input.pause(),
    resume: () => {
      if (!isFinished) input.resume()
    },
    stop: () => {
      isFinished = true
      input.off('data', takeChunk)
      input.pause()
    },
  }
}
