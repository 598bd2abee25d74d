import { errorCodes } from '../basic/error-codes.ts'
import { McpError } from '../basic/mcp-error.ts'

/** The size limits of a message. Each limit is enforced before anything is built from the text. */
export interface ParseBounds {
  /** The length of the text in UTF-8 bytes. */
  readonly bytes: number
  /** The depth of nested objects and arrays, the message itself included. */
  readonly depth: number
  /** The number of array items and object members in the text. */
  readonly elements: number
}

/** The default limits of a parser: 4 MiB, 256 levels, 100,000 elements. */
export const defaultBounds: ParseBounds = { bytes: 4 * 1024 * 1024, depth: 256, elements: 100_000 }

/** Throws `McpError(parse)` when the text exceeds the limit in UTF-8 bytes. */
export function checkBytes(text: string, bounds: ParseBounds): void {
  // A UTF-16 code unit takes one to three bytes, so the length alone decides for most texts.
  if (text.length * 3 <= bounds.bytes) return
  if (text.length > bounds.bytes || utf8Length(text) > bounds.bytes) throw tooMuch(`${bounds.bytes} bytes`)
}

/** Creates the error of a text that exceeds a limit. */
export function tooMuch(limit: string): McpError {
  return new McpError(errorCodes.parse, `The message is too large: more than ${limit}`)
}

function utf8Length(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) continue
    // Both halves of a surrogate pair add one byte each: four bytes in two units. A lone half is sent as U+FFFD, three
    // bytes.
    bytes += unit < 0x800 || isPaired(text, at) ? 1 : 2
  }
  return bytes
}

function isPaired(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  if (unit >= 0xd800 && unit < 0xdc00) return isLow(text.charCodeAt(at + 1))
  return isLow(unit) && isHigh(text.charCodeAt(at - 1))
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}
