import { isUtf8 } from 'node:buffer'
import type { RequestId } from '@x/schema'

/** A line that was too long. Its two ends are kept for diagnostics, and may contain the id of its message. */
export interface SkippedLine {
  readonly kind: 'too_long' | 'not_utf8'
  /** First bytes of the line, at most 256, decoded as UTF-8 even if they are invalid. */
  readonly head: string
  /** Last bytes of the line, at most 64. */
  readonly tail: string
}

/** Receives what {@link createLineSplitter} finds. */
export interface LineSink {
  /** Called with each line, without its ending. Empty lines are left out. */
  readonly onLine: (text: string) => void
  /** Called with each line that was skipped. */
  readonly onSkipped: (skippedLine: SkippedLine) => void
}

/** Splits bytes into lines. */
export interface LineSplitter {
  /** Processes the next bytes of the stream. Keeps no reference to the chunk. */
  push(chunk: Buffer): void
  /** Ends the stream. Bytes after the last newline are a last line. */
  end(): void
}

const newline = 0x0a
const carriageReturn = 0x0d
const headBytes = 256
const tailBytes = 64
const emptyBuffer = Buffer.alloc(0)

/**
 * Splits bytes into lines of UTF-8, which end with a newline, or a carriage return and a newline
 * (basic/transports/stdio). The time for each byte is bounded, however small the chunks are. Of a line with more than
 * `maxBytes` bytes, only the two ends are kept.
 */
export function createLineSplitter(maxBytes: number, sink: LineSink): LineSplitter {
  const lineBuffer = new LineBuffer()
  let skippedExcerpt: Excerpt | undefined

  const appendPart = (part: Buffer): void => {
    if (skippedExcerpt !== undefined) skippedExcerpt = extendExcerpt(skippedExcerpt, part)
    // One byte more, because the last one may be a carriage return.
    else if (lineBuffer.length + part.length <= maxBytes + 1) lineBuffer.append(part)
    else skippedExcerpt = extendExcerpt(createExcerpt(lineBuffer.take()), part)
  }
  const completeLine = (part: Buffer): void => {
    if (skippedExcerpt !== undefined) {
      sink.onSkipped(toSkippedLine('too_long', extendExcerpt(skippedExcerpt, part)))
      skippedExcerpt = undefined
    } else if (lineBuffer.length === 0) emitLine(part)
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

type Excerpt = Readonly<Record<'head' | 'tail', Buffer>>

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

const maxReusedBytes = 64 * 1024

/** One buffer and no list of chunks, or a peer that sends single bytes could fill the memory with them. */
class LineBuffer {
  #buffer = emptyBuffer
  #length = 0

  get length(): number {
    return this.#length
  }

  append(part: Buffer): void {
    const length = this.#length + part.length
    if (length > this.#buffer.length) {
      const largerBuffer = Buffer.allocUnsafeSlow(Math.max(1024, length * 2))
      this.#buffer.copy(largerBuffer, 0, 0, this.#length)
      this.#buffer = largerBuffer
    }
    part.copy(this.#buffer, this.#length)
    this.#length = length
  }

  /** Empties the buffer. The next `append` may overwrite the returned bytes. */
  take(): Buffer {
    const takenLine = this.#buffer.subarray(0, this.#length)
    this.#length = 0
    if (this.#buffer.length > maxReusedBytes) this.#buffer = emptyBuffer
    return takenLine
  }
}

const idPattern = String.raw`("[ !#-\[\]-~]{0,128}"|-?\d{1,16})`
const idAtStartPattern = new RegExp(String.raw`^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*${idPattern}\s*[,}]`)
// The last brace of the text ends the message, so an `id` right before it belongs to the message and to no nested
// object.
const idAtEndPattern = new RegExp(String.raw`(?<!\\)"id"\s*:\s*${idPattern}\s*\}\s*$`)

/**
 * The id of a skipped message, so that its call can be answered. It is found as the first or the last member, where
 * most peers write it.
 */
export function idFromExcerpt({ head, tail }: SkippedLine): RequestId | undefined {
  const text = idAtStartPattern.exec(head)?.[1] ?? idAtEndPattern.exec(tail)?.[1]
  if (text === undefined) return undefined
  if (text.startsWith('"')) return text.slice(1, -1)
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : undefined
}
