import type { JsonObject, JsonValue } from '../json.ts'
import { StateUsageError } from '../state-error.ts'

/** Deeper values are refused: the walk must not exhaust the stack. */
export const deepest = 200

/** So few are put in order sooner than `sort` begins to compare. */
const fewKeys = 16

/** Up to so many characters, looking at each costs less than `JSON.stringify` and the test below. */
const shortText = 64
const loneSurrogate = /\p{Surrogate}/u

/**
 * The one text of a JSON value, as RFC 8785 orders and writes it: equal values have equal texts.
 *
 * @throws StateUsageError with `not_json` for what JSON cannot carry.
 */
export function canonicalJson(value: JsonValue, depth = 0): string {
  if (depth > deepest) throw new StateUsageError('not_json', `A value is nested deeper than ${deepest} levels`)
  switch (typeof value) {
    case 'string':
      return canonicalString(value)
    case 'number':
      return canonicalNumber(value)
    case 'boolean':
      return String(value)
    case 'object':
      if (value === null) return 'null'
      return isArray(value) ? canonicalArray(value, depth) : canonicalObject(value, depth)
    default:
      throw new StateUsageError('not_json', `JSON cannot carry ${typeof value}`)
  }
}

function canonicalArray(items: readonly JsonValue[], depth: number): string {
  return `[${items.map((item) => canonicalJson(item, depth + 1)).join(',')}]`
}

function canonicalObject(value: JsonObject, depth: number): string {
  let members = ''
  for (const key of ordered(Object.keys(value))) {
    const member = value[key]
    if (member === undefined) continue
    members += `${members === '' ? '' : ','}${canonicalString(key)}:${canonicalJson(member, depth + 1)}`
  }
  return `{${members}}`
}

/** RFC 8785, 3.2.3: keys are ordered by UTF-16 code units, which is how strings compare. */
function ordered(keys: string[]): readonly string[] {
  if (keys.length > fewKeys) return keys.sort()
  const sorted: string[] = []
  for (const key of keys) insert(sorted, key)
  return sorted
}

function insert(sorted: string[], key: string): void {
  let at = sorted.length
  for (let before = sorted[at - 1]; before !== undefined && before > key; before = sorted[at - 1]) {
    sorted[at] = before
    at--
  }
  sorted[at] = key
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new StateUsageError('not_json', `JSON cannot carry ${value}`)
  // Writes -0 as 0, and everything else as ECMAScript does, which RFC 8785 made its rule.
  return JSON.stringify(value)
}

function canonicalString(value: string): string {
  if (value.length <= shortText && needsNoEscape(value)) return `"${value}"`
  if (loneSurrogate.test(value)) {
    throw new StateUsageError('not_json', 'A string holds half of a surrogate pair, which has no canonical form')
  }
  return JSON.stringify(value)
}

/** Whether a text is ASCII without anything that JSON escapes, as most names are. */
function needsNoEscape(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false
  }
  return true
}

function isArray(value: object): value is readonly JsonValue[] {
  return Array.isArray(value)
}
