import type { Readable } from 'node:stream'
import { type LineSink, createLineSplitter } from './line-splitter.ts'

/** A stream that is being read. */
export interface LineReader {
  /** Pauses reading until {@link LineReader.resume}. Lines of the current chunk are still delivered. */
  pause(): void
  resume(): void
  /** Stops reading permanently. */
  stop(): void
}

/** Handlers of lines and of the end. */
export interface LineReaderEvents extends LineSink {
  /** Called when the stream has ended, or has failed, with its error. */
  readonly onEnd: (error?: unknown) => void
}

/** Reads a stream line by line from now on, until it ends or is stopped. */
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
  // A program may have set an encoding on the stream, as is common for stdin.
  const takeChunk = (chunk: Buffer | string): void =>
    lineSplitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  const finish = (error?: unknown): void => {
    if (isFinished) return
    lineSplitter.end()
    isFinished = true
    events.onEnd(error)
  }
  const onInputEnd = (): void => finish()
  // The listeners for the end stay, because a late error without a listener would end the process.
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
