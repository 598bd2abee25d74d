import { copyJson, isPlainObject, type JsonProblem, type JsonRules, parseJson, stringifyWellFormed } from '@x/core'
import { DefinitionError } from '@x/exchange'
import type { JsonObject, JsonValue } from '@x/schema'

/** The rules for values that are recorded in a journal. */
const recordedValueRules: JsonRules = { maxDepth: 100, acceptsObject: isPlainObject }

/**
 * Returns a copy of a value that is JSON, or the reason why the value is not JSON. Undefined members are left out, as
 * in JSON. Half of a surrogate pair becomes U+FFFD. Nothing else is converted, so that this run and every later run
 * receive the same value.
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

/** Returns the kind of a value in a few words, for an error: `the number 3`, `a function`, `an array`. */
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
 * The maximum number of levels below a definition's object. It exceeds the depth that `findSchemaProblem` allows a
 * schema, and is small enough for the call stack.
 */
const maxDefinitionDepth = 512

/**
 * Returns a frozen copy of a part of a definition, without undefined members. Clients receive this copy, so that the
 * author cannot change it after the checks. Throws {@link DefinitionError} for a value that JSON cannot contain.
 */
export function freezeJsonObject(value: object, errorSubject: string): JsonObject {
  // The spread converts a function or an array to an object with the same members.
  const copy = copyJson({ ...value }, { maxDepth: maxDefinitionDepth + 1, isFrozen: true })
  if ('problem' in copy) throw definitionError(copy.problem, errorSubject)
  // The cast is safe, because the copy of an object is an object.
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
