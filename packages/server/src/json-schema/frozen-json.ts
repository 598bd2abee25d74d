import type { JsonObject, JsonValue } from '@x/schema'
import { DefinitionError } from '../request/definition-error.ts'

/** Deeper than any schema that `checkSchema` accepts, and shallow enough for the stack. */
const maxDepth = 512

/**
 * A frozen copy of a part of a definition, without its undefined members: what was checked is what is sent, whatever
 * the author does to the original. Throws {@link DefinitionError} for what JSON cannot carry.
 */
function freezeJsonValue(value: unknown, subject: string, depth = 0): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value !== 'object') throw jsonValueError(value, subject)
  if (depth > maxDepth) {
    throw new DefinitionError('value', subject, { reason: `nested deeper than ${maxDepth}, or refers to itself` })
  }
  if (Array.isArray(value)) return Object.freeze(value.map((item) => freezeJsonValue(item, subject, depth + 1)))
  return freezeMembers(value, subject, depth)
}

/** As for any value, for what has to be an object. */
export function freezeJsonObject(value: object, subject: string): JsonObject {
  return freezeMembers(value, subject, 0)
}

function freezeMembers(value: object, subject: string, depth: number): JsonObject {
  const members: [string, JsonValue][] = []
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) members.push([key, freezeJsonValue(member, subject, depth + 1)])
  }
  // fromEntries defines its keys, so that one named __proto__ stays a key.
  return Object.freeze(Object.fromEntries(members))
}

function jsonValueError(value: unknown, subject: string): DefinitionError {
  return new DefinitionError('value', subject, {
    reason: `holds a ${typeof value}, which JSON cannot carry; write strings, finite numbers, booleans, arrays and objects`,
  })
}
