import type { JsonValue } from './json.ts'

const halfPrefix = String.raw`\ud`

// Reads each escape as a whole, because the second character of an escaped backslash begins none.
const escapePattern = /\\(?:ud[89a-f][0-9a-f]{2}|[^])/g

/**
 * Serializes a value as JSON that every reader accepts: in place of half a surrogate pair, as text has that was cut in
 * the middle of a character, it has U+FFFD. Readers in Python and Rust refuse a whole message for one half (RFC 8259,
 * section 8.2). Calls `onReplaced` if there was one. Returns `undefined` where `JSON.stringify` does.
 *
 * @throws TypeError for a value that `JSON.stringify` refuses, such as an object with a cycle.
 */
export function stringifyWellFormed(value: JsonValue | object, onReplaced?: () => void): string
export function stringifyWellFormed(value: unknown, onReplaced?: () => void): string | undefined
export function stringifyWellFormed(value: unknown, onReplaced?: () => void): string | undefined {
  // The declared type lacks the result for functions and undefined.
  const text: string | undefined = JSON.stringify(value)
  // JSON.stringify writes a half as an escape, and a pair as it is. So this search is all that most texts cost.
  if (text === undefined || !text.includes(halfPrefix)) return text
  const wellFormedText = text.replaceAll(escapePattern, (escape) => (escape.startsWith(halfPrefix) ? '\uFFFD' : escape))
  if (wellFormedText === text) return text
  onReplaced?.()
  // Two keys may have become equal, which readers refuse too.
  return JSON.stringify(JSON.parse(wellFormedText))
}
