import type { Readable } from 'node:stream'
import { type LineSink, splitLines } from './lines.ts'

/** A stream that is being read. */
export interface Intake {
  /** Reads no more until {@link Intake.resume}; what a chunk has brought is still taken. */
  pause(): void
  resume(): void
  /** Reads no more at all. */
  stop(): void
}

/** Who takes what comes. */
export interface IntakeEvents extends LineSink {
  /** The stream has ended, or has failed, with its error. */
  readonly onEnd: (error?: unknown) => void
}

/** Reads a stream line by line from now on, until it ends or is stopped. */
export function readLines(input: Readable, maxLineBytes: number, events: IntakeEvents): Intake {
  let isOver = false
  const lines = splitLines(maxLineBytes, {
    onLine: (text) => {
      if (!isOver) events.onLine(text)
    },
    onFlaw: (flaw) => {
      if (!isOver) events.onFlaw(flaw)
    },
  })
  // A program may have set an encoding on the stream, as one does with stdin.
  const take = (chunk: Buffer | string): void => lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  const over = (error?: unknown): void => {
    if (isOver) return
    lines.end()
    isOver = true
    events.onEnd(error)
  }
  const ended = (): void => over()
  // The listeners for the end stay: a late error without one would end the process.
  input.on('data', take).on('end', ended).on('close', ended).on('error', over)
  return {
    pause: () => void input.pause(),
    resume: () => {
      if (!isOver) input.resume()
    },
    stop: () => {
      isOver = true
      input.off('data', take)
      input.pause()
    },
  }
}
