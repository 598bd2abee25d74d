import type { Readable } from 'node:stream'
import { readLines } from '../read-lines.ts'

const lineBytes = 8192
const keptLines = 20
const keptCharacters = 2000

/** What a process says on stderr, which may be anything and is no error by itself (basic/transports/stdio). */
export interface StderrLines {
  /** The last lines, at most 2,000 characters. */
  last(): string
}

/** Reads stderr line by line: a long line is cut, and the last ones are kept for the error of a process that ends. */
export function readStderr(stream: Readable, onLine: ((line: string) => void) | undefined): StderrLines {
  const kept: string[] = []
  const take = (line: string): void => {
    kept.push(line)
    if (kept.length > keptLines) kept.shift()
    onLine?.(line)
  }
  readLines(stream, lineBytes, { onLine: take, onFlaw: ({ head }) => take(`${head}…`), onEnd: () => {} })
  return { last: () => kept.join('\n').slice(-keptCharacters) }
}
