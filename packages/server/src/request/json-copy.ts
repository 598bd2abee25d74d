import { copyJson, type JsonProblem, type JsonRules } from '@x/core'
import type { JsonObject, JsonValue } from '@x/schema'
import { DefinitionError } from './definition-error.ts'

/** The rules of a recorded value. */
const recordedValueRules: JsonRules = { maxDepth: 100, acceptsObject: isPlainObject }

/**
 * Returns a copy of a value that is JSON in every member, or the first one that is not. Undefined members are left out,
 * as JSON leaves them out, and nothing is converted: this run and every later one receive the same.
 */
export function tryCopyJson(value: unknown): { readonly value: JsonValue } | { readonly reason: string } {
  const copy = copyJson(value, recordedValueRules)
  return 'problem' in copy ? { reason: describeRecordedProblem(copy.problem) } : copy
}

/** A plain object's prototype has no prototype of its own. That of another realm is another object. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function describeRecordedProblem({ path, reason, value }: JsonProblem): string {
  const pointer = path.map((key) => `/${key}`).join('')
  if (reason === 'too_deep') return `${pointer.slice(0, 200)}… is deeper than ${recordedValueRules.maxDepth} levels`
  return `${pointer === '' ? 'it' : `its member ${pointer}`} is ${describeValue(value)}`
}

function describeValue(value: unknown): string {
  if (value === undefined || typeof value === 'number') return String(value)
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`
  const { constructor }: { constructor?: unknown } = value
  const name = typeof constructor === 'function' ? constructor.name : ''
  return `a ${name || 'class instance'}, not a plain object`
}

/**
 * The levels below a definition's object: more than `findSchemaProblem` accepts of a schema, and few enough for the
 * stack.
 */
const maxDefinitionDepth = 512

/**
 * A frozen copy of a part of a definition, without its undefined members: what was checked is what is sent, even when
 * the author changes the original. Throws {@link DefinitionError} for what JSON cannot carry.
 */
export function freezeJsonObject(value: object, errorSubject: string): JsonObject {
  // Spread, so that a definition that is a function or a list becomes an object of its members.
  const copy = copyJson({ ...value }, { maxDepth: maxDefinitionDepth + 1, isFrozen: true })
  if ('problem' in copy) throw definitionError(copy.problem, errorSubject)
  // The cast is safe: the copy of an object is one.
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
