import type { JsonValue } from '@x/core'

/** Any parser of JSON in JavaScript rounds what is larger, and an id that is rounded names another object. */
const largest = Number.MAX_SAFE_INTEGER

/** Texts are matched so that no digits in them count. */
const texts = /"[^"\\]*(?:\\.[^"\\]*)*"/g
const numbers = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi

/** True for a JSON text with a number that another one takes the place of when it is parsed. */
export function hasRoundedNumber(json: string): boolean {
  // All that most texts cost.
  if (!/\d{16}|\de\+?\d{3}/i.test(json)) return false
  return json.replaceAll(texts, '""').match(numbers)?.some(isRounded) ?? false
}

function isRounded(written: string): boolean {
  const value = Number(written)
  if (!Number.isFinite(value)) return true
  return Math.abs(value) > largest && !/e/i.test(written) && String(value) !== written
}

/** Path of the first integer that a parser may have rounded. From 1e21 on, JavaScript writes an exponent, as no id has. */
export function findLargeInteger(value: JsonValue | undefined, path: string): string | undefined {
  if (typeof value === 'number') return Math.abs(value) > largest && Math.abs(value) < 1e21 ? path : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const found = findLargeInteger(member, path === '' ? key : `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}
