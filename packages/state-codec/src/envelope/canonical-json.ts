import { isJsonArray, type JsonObject, type JsonValue } from '@x/core'
import { StateUsageError } from '../state-error.ts'

/**
 * Protects the call stack. More than 256, which messages may have by default, because a binding may contain the
 * arguments of a message.
 */
export const maxDepth = 300

/** Up to so many keys, an insertion sort is faster than `sort`. */
const insertionSortLimit = 16

/** Up to so many characters, a loop is faster than `JSON.stringify` with `loneSurrogatePattern`. */
const maxScannedLength = 64
const loneSurrogatePattern = /\p{Surrogate}/u

/**
 * RFC 8785: equal values have equal texts.
 *
 * @throws StateUsageError with `not_json` for a value that JSON cannot carry.
 */
export function canonicalizeJson(value: JsonValue, depth = 0): string {
  if (depth > maxDepth) throw new StateUsageError('not_json', `A value is nested deeper than ${maxDepth} levels`)
  switch (typeof value) {
    case 'string':
      return canonicalizeString(value)
    case 'number':
      return canonicalizeNumber(value)
    case 'boolean':
      return String(value)
    case 'object':
      if (value === null) return 'null'
      return isJsonArray(value) ? canonicalizeArray(value, depth) : canonicalizeObject(value, depth)
    default:
      throw new StateUsageError('not_json', `JSON cannot carry ${typeof value}`)
  }
}

function canonicalizeArray(items: readonly JsonValue[], depth: number): string {
  let text = ''
  for (const item of items) text += `${text === '' ? '' : ','}${canonicalizeJson(item, depth + 1)}`
  return `[${text}]`
}

function canonicalizeObject(value: JsonObject, depth: number): string {
  let members = ''
  for (const key of sortKeys(Object.keys(value))) {
    const member = value[key]
    if (member === undefined) continue
    members += `${members === '' ? '' : ','}${canonicalizeString(key)}:${canonicalizeJson(member, depth + 1)}`
  }
  return `{${members}}`
}

/** By UTF-16 code units, as strings compare (RFC 8785, 3.2.3). */
function sortKeys(keys: string[]): readonly string[] {
  if (keys.length > insertionSortLimit) return keys.sort()
  const sortedKeys: string[] = []
  for (const key of keys) insertSorted(sortedKeys, key)
  return sortedKeys
}

function insertSorted(sortedKeys: string[], key: string): void {
  let index = sortedKeys.length
  for (
    let previousKey = sortedKeys[index - 1];
    previousKey !== undefined && previousKey > key;
    previousKey = sortedKeys[index - 1]
  ) {
    sortedKeys[index] = previousKey
    index--
  }
  sortedKeys[index] = key
}

function canonicalizeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new StateUsageError('not_json', `JSON cannot carry ${value}`)
  // -0 becomes 0, and every other number is as ECMAScript writes it, as RFC 8785 requires.
  return JSON.stringify(value)
}

function canonicalizeString(value: string): string {
  if (value.length <= maxScannedLength && isUnescapedAscii(value)) return `"${value}"`
  if (loneSurrogatePattern.test(value)) {
    throw new StateUsageError('not_json', 'A string contains a lone surrogate, which has no canonical form')
  }
  return JSON.stringify(value)
}

/** ASCII that JSON does not escape. Most member names are such texts. */
function isUnescapedAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const charCode = text.charCodeAt(at)
    if (charCode < 0x20 || charCode > 0x7e || charCode === 0x22 || charCode === 0x5c) return false
  }
  return true
}
