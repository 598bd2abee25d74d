import { errorCodes } from '../basic/error-codes.ts'
import { McpError } from '../basic/mcp-error.ts'

/** How large a message may be. Each bound holds before anything is built from the text. */
export interface ParseBounds {
  /** UTF-8 bytes of the whole text. */
  readonly bytes: number
  /** Objects and arrays within one another, the message itself counted. */
  readonly depth: number
  /** Values in arrays and members of objects, of the whole text. */
  readonly elements: number
}

/** The bounds of a parser that was given none: 4 MiB, 256 levels, 100,000 elements. */
export const defaultBounds: ParseBounds = { bytes: 4 * 1024 * 1024, depth: 256, elements: 100_000 }

/** Throws `McpError(parse)` when the text is longer than the bound in UTF-8 bytes. */
export function checkBytes(text: string, bounds: ParseBounds): void {
  // A UTF-16 unit takes at most three bytes and at least one, so most texts are judged by their length.
  if (text.length * 3 <= bounds.bytes) return
  if (text.length > bounds.bytes || utf8Length(text) > bounds.bytes) throw tooMuch(`${bounds.bytes} bytes`)
}

/** The error of a text that breaks the bound that `limit` words. */
export function tooMuch(limit: string): McpError {
  return new McpError(errorCodes.parse, `The message is too large: more than ${limit}`)
}

function utf8Length(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) continue
    // Both halves of a pair add one byte each: four bytes in two units. A half alone is sent as U+FFFD, three bytes.
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
