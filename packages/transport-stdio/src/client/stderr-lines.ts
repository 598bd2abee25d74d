import type { Readable } from 'node:stream'
import { readLines } from '../read-lines.ts'

const maxLineBytes = 8192
const maxLines = 20
const maxCharacters = 2000

/** The stderr output of a process, which may be anything and is not an error by itself (basic/transports/stdio). */
export interface StderrLines {
  /** Returns the last lines, at most 2,000 characters. */
  last(): string
}

/**
 * Reads stderr line by line. Long lines are truncated, and the last lines are kept for the error of a process that
 * exits.
 */
export function readStderr(stream: Readable, onLine: ((line: string) => void) | undefined): StderrLines {
  const lastLines: string[] = []
  const addLine = (line: string): void => {
    lastLines.push(line)
    if (lastLines.length > maxLines) lastLines.shift()
    onLine?.(line)
  }
  readLines(stream, maxLineBytes, { onLine: addLine, onSkipped: ({ head }) => addLine(`${head}…`), onEnd: () => {} })
  return { last: () => lastLines.join('\n').slice(-maxCharacters) }
}
