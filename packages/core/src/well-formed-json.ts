import type { JsonValue } from './json.ts'

const halfPrefix = String.raw`\ud`

// Reads each escape as a whole, because the second character of an escaped backslash begins none.
const escapePattern = /\\(?:ud[89a-f][0-9a-f]{2}|[^])/g

/**
 * Writes JSON that every reader accepts. Text that was cut in the middle of a character has half a surrogate pair, for
 * which readers in Python and Rust refuse the whole message (RFC 8259, section 8.2); U+FFFD takes its place, and
 * `onReplaced` is called. Returns `undefined` where `JSON.stringify` does.
 *
 * @throws TypeError for a value that `JSON.stringify` refuses, such as an object with a cycle.
 */
export function stringifyWellFormed(value: JsonValue | object, onReplaced?: () => void): string
export function stringifyWellFormed(value: unknown, onReplaced?: () => void): string | undefined
export function stringifyWellFormed(value: unknown, onReplaced?: () => void): string | undefined {
  // The declared type lacks the result for functions and undefined.
  const text: string | undefined = JSON.stringify(value)
  // JSON.stringify writes a half as an escape, and a pair as it is, so this search is all that most texts cost.
  if (text === undefined || !text.includes(halfPrefix)) return text
  const wellFormedText = text.replaceAll(escapePattern, (escape) => (escape.startsWith(halfPrefix) ? '\uFFFD' : escape))
  if (wellFormedText === text) return text
  onReplaced?.()
  // Two keys may have become equal, which readers refuse too.
  return JSON.stringify(JSON.parse(wellFormedText))
}
