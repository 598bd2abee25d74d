import { isUtf8 } from 'node:buffer'

/** A line that is no text: what stands at its ends, for the id of its message and for people. */
export interface LineFlaw {
  readonly kind: 'too-long' | 'not-utf8'
  /** The first bytes, at most 256, read as UTF-8 whatever they are. */
  readonly head: string
  /** The last bytes, at most 64. */
  readonly tail: string
}

/** What takes lines. */
export interface LineSink {
  /** A line without its ending; never an empty one. */
  readonly onLine: (text: string) => void
  /** A line that was skipped. */
  readonly onFlaw: (flaw: LineFlaw) => void
}

/** Makes lines of bytes. */
export interface LineSplitter {
  /** Takes the next bytes of the stream, which it does not keep. */
  push(chunk: Buffer): void
  /** The stream has ended; what has come of a line counts as one. */
  end(): void
}

const newline = 0x0a
const carriageReturn = 0x0d
const headBytes = 256
const tailBytes = 64
const none = Buffer.alloc(0)

/**
 * Splits bytes into lines of UTF-8 at each newline, with or without a carriage return before it (basic/transports/stdio).
 * Each byte is looked at and copied a bounded number of times, however the stream is cut into chunks. Of a line longer
 * than `maxBytes` the ends are kept and the rest is dropped as it comes.
 */
export function splitLines(maxBytes: number, sink: LineSink): LineSplitter {
  const rest = createRest()
  let skipped: Excerpt | undefined

  const keep = (part: Buffer): void => {
    if (skipped !== undefined) skipped = extend(skipped, part)
    // One byte more, because the last may be the carriage return.
    else if (rest.length() + part.length <= maxBytes + 1) rest.append(part)
    else skipped = extend(excerptOf(rest.take()), part)
  }
  const complete = (part: Buffer): void => {
    if (skipped !== undefined) {
      sink.onFlaw(flawOf('too-long', extend(skipped, part)))
      skipped = undefined
    } else if (rest.length() === 0) judge(part)
    else {
      keep(part)
      if (skipped === undefined) judge(rest.take())
      else complete(none)
    }
  }
  const judge = (bytes: Buffer): void => {
    const line = bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes
    if (line.length === 0) return
    if (line.length > maxBytes) sink.onFlaw(flawOf('too-long', excerptOf(line)))
    else if (isUtf8(line)) sink.onLine(line.toString())
    else sink.onFlaw(flawOf('not-utf8', excerptOf(line)))
  }
  return {
    push: (chunk) => {
      let from = 0
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
        complete(chunk.subarray(from, at))
        from = at + 1
      }
      if (from < chunk.length) keep(from === 0 ? chunk : chunk.subarray(from))
    },
    end: () => complete(none),
  }
}

interface Excerpt {
  readonly head: Buffer
  readonly tail: Buffer
}

function excerptOf(bytes: Buffer): Excerpt {
  return { head: Buffer.from(bytes.subarray(0, headBytes)), tail: Buffer.from(bytes.subarray(-tailBytes)) }
}

function extend({ head, tail }: Excerpt, part: Buffer): Excerpt {
  const missing = headBytes - head.length
  return {
    head: missing > 0 ? Buffer.concat([head, part.subarray(0, missing)]) : head,
    tail: Buffer.concat([tail, part.subarray(-tailBytes)]).subarray(-tailBytes),
  }
}

function flawOf(kind: LineFlaw['kind'], { head, tail }: Excerpt): LineFlaw {
  return { kind, head: head.toString(), tail: tail.toString() }
}

interface Rest {
  length(): number
  append(part: Buffer): void
  /** Gives what was appended and starts anew; the bytes may change with the next `append`. */
  take(): Buffer
}

const reusedBytes = 64 * 1024

// A list of chunks would keep each of them alive: a peer that sends single bytes could fill the memory with their frames.
function createRest(): Rest {
  let buffer = none
  let length = 0
  return {
    length: () => length,
    append: (part) => {
      if (length + part.length > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(1024, (length + part.length) * 2))
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
      part.copy(buffer, length)
      length += part.length
    },
    take: () => {
      const taken = buffer.subarray(0, length)
      length = 0
      if (buffer.length > reusedBytes) buffer = none
      return taken
    },
  }
}
