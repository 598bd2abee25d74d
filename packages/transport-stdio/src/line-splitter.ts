import { isUtf8 } from 'node:buffer'
import type { RequestId } from '@x/schema'

/** A skipped line: excerpts of its two ends, for the id of its message and for diagnostics. */
export interface SkippedLine {
  readonly kind: 'too_long' | 'not_utf8'
  /** The first bytes, at most 256, decoded as UTF-8 even if invalid. */
  readonly head: string
  /** The last bytes, at most 64. */
  readonly tail: string
}

/** The listeners of {@link createLineSplitter}. */
export interface LineSink {
  /** Called with a line without its ending, never with an empty one. */
  readonly onLine: (text: string) => void
  /** Called with a line that was skipped. */
  readonly onSkipped: (skippedLine: SkippedLine) => void
}

/** Splits bytes into lines. */
export interface LineSplitter {
  /** Processes the next bytes of the stream, which it does not retain. */
  push(chunk: Buffer): void
  /** Ends the stream. A final line without a newline counts. */
  end(): void
}

const newline = 0x0a
const carriageReturn = 0x0d
const headBytes = 256
const tailBytes = 64
const emptyBuffer = Buffer.alloc(0)

/**
 * Splits bytes into lines of UTF-8 at each newline, with or without a carriage return before it
 * (basic/transports/stdio). Each byte is read and copied a bounded number of times, for any chunking of the stream. Of
 * a line longer than `maxBytes` only the two ends are stored.
 */
export function createLineSplitter(maxBytes: number, sink: LineSink): LineSplitter {
  const lineBuffer = createLineBuffer()
  let skippedExcerpt: Excerpt | undefined

  const appendPart = (part: Buffer): void => {
    if (skippedExcerpt !== undefined) skippedExcerpt = extendExcerpt(skippedExcerpt, part)
    // One byte more, because the last may be the carriage return.
    else if (lineBuffer.length() + part.length <= maxBytes + 1) lineBuffer.append(part)
    else skippedExcerpt = extendExcerpt(createExcerpt(lineBuffer.take()), part)
  }
  const completeLine = (part: Buffer): void => {
    if (skippedExcerpt !== undefined) {
      sink.onSkipped(toSkippedLine('too_long', extendExcerpt(skippedExcerpt, part)))
      skippedExcerpt = undefined
    } else if (lineBuffer.length() === 0) emitLine(part)
    else {
      appendPart(part)
      if (skippedExcerpt === undefined) emitLine(lineBuffer.take())
      else completeLine(emptyBuffer)
    }
  }
  const emitLine = (bytes: Buffer): void => {
    const line = bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes
    if (line.length === 0) return
    if (line.length > maxBytes) sink.onSkipped(toSkippedLine('too_long', createExcerpt(line)))
    else if (isUtf8(line)) sink.onLine(line.toString())
    else sink.onSkipped(toSkippedLine('not_utf8', createExcerpt(line)))
  }
  return {
    push: (chunk) => {
      let lineStart = 0
      for (
        let newlineIndex = chunk.indexOf(newline);
        newlineIndex !== -1;
        newlineIndex = chunk.indexOf(newline, lineStart)
      ) {
        completeLine(chunk.subarray(lineStart, newlineIndex))
        lineStart = newlineIndex + 1
      }
      if (lineStart < chunk.length) appendPart(lineStart === 0 ? chunk : chunk.subarray(lineStart))
    },
    end: () => completeLine(emptyBuffer),
  }
}

interface Excerpt {
  readonly head: Buffer
  readonly tail: Buffer
}

function createExcerpt(bytes: Buffer): Excerpt {
  return { head: Buffer.from(bytes.subarray(0, headBytes)), tail: Buffer.from(bytes.subarray(-tailBytes)) }
}

function extendExcerpt({ head, tail }: Excerpt, part: Buffer): Excerpt {
  const missingBytes = headBytes - head.length
  return {
    head: missingBytes > 0 ? Buffer.concat([head, part.subarray(0, missingBytes)]) : head,
    tail: Buffer.concat([tail, part.subarray(-tailBytes)]).subarray(-tailBytes),
  }
}

function toSkippedLine(kind: SkippedLine['kind'], { head, tail }: Excerpt): SkippedLine {
  return { kind, head: head.toString(), tail: tail.toString() }
}

interface LineBuffer {
  length(): number
  append(part: Buffer): void
  /** Returns the appended bytes and starts anew. The bytes may change with the next `append`. */
  take(): Buffer
}

const maxReusedBytes = 64 * 1024

// One buffer instead of a list of chunks: a peer that sends single bytes could fill the memory with their chunks.
function createLineBuffer(): LineBuffer {
  let buffer = emptyBuffer
  let length = 0
  return {
    length: () => length,
    append: (part) => {
      if (length + part.length > buffer.length) {
        const largerBuffer = Buffer.allocUnsafeSlow(Math.max(1024, (length + part.length) * 2))
        buffer.copy(largerBuffer, 0, 0, length)
        buffer = largerBuffer
      }
      part.copy(buffer, length)
      length += part.length
    },
    take: () => {
      const takenLine = buffer.subarray(0, length)
      length = 0
      if (buffer.length > maxReusedBytes) buffer = emptyBuffer
      return takenLine
    },
  }
}

const idPattern = String.raw`("[ !#-\[\]-~]{0,128}"|-?\d{1,16})`
const idAtStartPattern = new RegExp(String.raw`^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*${idPattern}\s*[,}]`)
// The last brace of a JSON object closes the message itself, so the member right before it belongs to the message.
const idAtEndPattern = new RegExp(String.raw`(?<!\\)"id"\s*:\s*${idPattern}\s*\}\s*$`)

/**
 * Returns the id of a skipped message when it is the first or the last member, as most peers write it. Without a
 * response, the call would wait forever.
 */
export function idFromExcerpt({ head, tail }: SkippedLine): RequestId | undefined {
  const text = idAtStartPattern.exec(head)?.[1] ?? idAtEndPattern.exec(tail)?.[1]
  if (text === undefined) return undefined
  if (text.startsWith('"')) return text.slice(1, -1)
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : undefined
}
