import type { Readable } from 'node:stream'
import { type LineSink, createLineSplitter } from './line-splitter.ts'

/** Controls a stream that is being read. */
export interface LineReader {
  /** Pauses until {@link LineReader.resume} is called. The remaining lines of the current chunk are still passed on. */
  pause(): void
  resume(): void
  /** Stops for good. */
  stop(): void
}

/** Receives the lines of a stream, and its end. */
export interface LineReaderEvents extends LineSink {
  /** Called when the stream has ended, or failed with `error`. */
  readonly onEnd: (error?: unknown) => void
}

/** Reads a stream line by line, until it ends or `stop` is called. */
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
  // A program may have set an encoding, and often does for stdin; then chunks are strings.
  const takeChunk = (chunk: Buffer | string): void =>
    lineSplitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  const finish = (error?: unknown): void => {
    if (isFinished) return
    lineSplitter.end()
    isFinished = true
    events.onEnd(error)
  }
  const onInputEnd = (): void => finish()
  // These listeners are never removed: a late error without one would end the process.
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
