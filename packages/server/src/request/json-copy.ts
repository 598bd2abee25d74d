import { copyJson, isPlainObject, type JsonProblem, type JsonRules, parseJson, stringifyWellFormed } from '@x/core'
import { DefinitionError } from '@x/exchange'
import type { JsonObject, JsonValue } from '@x/schema'

const recordedValueRules: JsonRules = { maxDepth: 100, acceptsObject: isPlainObject }

/**
 * Copies a value that is JSON, or says why it is not. Undefined members are left out, as in JSON, and half of a
 * surrogate pair becomes U+FFFD. Nothing else is converted, because this run and every later one must receive the same
 * value.
 */
export function tryCopyJson(value: unknown): { readonly value: JsonValue } | { readonly reason: string } {
  const copy = copyJson(value, recordedValueRules)
  if ('problem' in copy) return { reason: describeRecordedProblem(copy.problem) }
  let isWellFormed = true
  const text = stringifyWellFormed(copy.value, () => (isWellFormed = false))
  return isWellFormed ? copy : { value: parseJson(text) ?? null }
}

function describeRecordedProblem({ path, reason, value }: JsonProblem): string {
  const pointer = path.map((key) => `/${key}`).join('')
  if (reason === 'too_deep') return `${pointer.slice(0, 200)}… is deeper than ${recordedValueRules.maxDepth} levels`
  return `${pointer === '' ? 'it' : `its member ${pointer}`} is ${describeValue(value)}`
}

/** Names a value's kind in an error: `the number 3`, `a function`, `an array`. */
export function describeType(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`
  if (typeof value === 'string') return 'a text'
  if (Array.isArray(value)) return 'an array'
  if (typeof value !== 'object') return `a ${typeof value}`
  const name = isPlainObject(value) ? '' : value.constructor.name
  return name === '' ? 'an object' : `a ${name}`
}

function describeValue(value: unknown): string {
  if (value === undefined || typeof value === 'number') return String(value)
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`
  const { constructor }: { constructor?: unknown } = value
  const name = typeof constructor === 'function' ? constructor.name : ''
  return `a ${name || 'class instance'}, not a plain object`
}

/**
 * Levels below a definition's object: more than `findSchemaProblem` allows a schema, and few enough for the call stack.
 */
const maxDefinitionDepth = 512

/**
 * Copies and freezes a part of a definition, without undefined members. Clients receive this copy, so the author cannot
 * change it after the checks. Throws {@link DefinitionError} for a value that JSON cannot contain.
 */
export function freezeJsonObject(value: object, errorSubject: string): JsonObject {
  // Spreading makes an object with the same members of a function or an array.
  const copy = copyJson({ ...value }, { maxDepth: maxDefinitionDepth + 1, isFrozen: true })
  if ('problem' in copy) throw definitionError(copy.problem, errorSubject)
  // The cast is safe: the copy of an object is an object.
  return copy.value as JsonObject
}

function definitionError({ reason, value }: JsonProblem, errorSubject: string): DefinitionError {
  return new DefinitionError('value', errorSubject, {
    reason:
      reason === 'too_deep'
        ? `nested deeper than ${maxDefinitionDepth}, or refers to itself`
        : `holds a ${typeof value}, which JSON cannot carry; write strings, finite numbers, booleans, arrays and objects`,
  })
}
