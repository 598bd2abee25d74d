import { isJsonArray, type JsonObject, type JsonValue } from '@x/core'
import { StateUsageError } from '../state-error.ts'

/**
 * The maximum depth of a value. The limit protects the call stack. It is higher than 256, the default limit of protocol
 * messages, because a binding may contain the arguments of a message.
 */
export const maxDepth = 300

/** The number of keys up to which an insertion sort is faster than `sort`. */
const insertionSortLimit = 16

/**
 * The length in characters up to which a character loop is faster than `JSON.stringify` with `loneSurrogatePattern`.
 */
const maxScannedLength = 64
const loneSurrogatePattern = /\p{Surrogate}/u

/**
 * Returns the canonical text of a JSON value (RFC 8785). Equal values have equal texts.
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

/** Sorts keys by UTF-16 code units, which is the order of string comparison (RFC 8785, 3.2.3). */
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
  // Writes -0 as 0, and every other number as ECMAScript does, as RFC 8785 requires.
  return JSON.stringify(value)
}

function canonicalizeString(value: string): string {
  if (value.length <= maxScannedLength && isUnescapedAscii(value)) return `"${value}"`
  if (loneSurrogatePattern.test(value)) {
    throw new StateUsageError('not_json', 'A string contains a lone surrogate, which has no canonical form')
  }
  return JSON.stringify(value)
}

/**
 * Returns true if a text contains only ASCII characters that JSON does not escape. Most member names are such texts.
 */
function isUnescapedAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const charCode = text.charCodeAt(at)
    if (charCode < 0x20 || charCode > 0x7e || charCode === 0x22 || charCode === 0x5c) return false
  }
  return true
}
