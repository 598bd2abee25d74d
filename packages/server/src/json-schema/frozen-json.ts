import { copyJson, type JsonProblem } from '@x/core'
import type { JsonObject } from '@x/schema'
import { DefinitionError } from '../request/definition-error.ts'

/** The levels below an object: more than any schema has that `checkSchema` accepts, and few enough for the stack. */
const maxDepth = 512

/**
 * A frozen copy of a part of a definition, without its undefined members: what was checked is what is sent, whatever
 * the author does to the original. Throws {@link DefinitionError} for what JSON cannot carry.
 */
export function freezeJsonObject(value: object, subject: string): JsonObject {
  // Spread, so that a definition that is a function or a list becomes an object of its members.
  const copy = copyJson({ ...value }, { maxDepth: maxDepth + 1, isFrozen: true })
  if ('problem' in copy) throw problemError(copy.problem, subject)
  // The cast is safe: the copy of an object is one.
  return copy.value as JsonObject
}

function problemError({ reason, value }: JsonProblem, subject: string): DefinitionError {
  return new DefinitionError('value', subject, {
    reason:
      reason === 'too_deep'
        ? `nested deeper than ${maxDepth}, or refers to itself`
        : `holds a ${typeof value}, which JSON cannot carry; write strings, finite numbers, booleans, arrays and objects`,
  })
}
