import { isJsonObject, type JsonObject, type PrimitiveSchemaDefinition, type SchemaIssue } from '@x/schema'
import { describeFieldMismatch } from '@x/schema/internal'
import { type JsonSchemaRules, jsonPointerOf } from '../json-schema/compile-schema.ts'
import { type Field, fieldError, readTextKeyword } from './field.ts'
import { requestedSchemaOf, resolveFields } from './requested-schema.ts'

const maxPatternLength = 1000

/**
 * The rules for a form that is written as JSON Schema. What a form can say is so little that the client's own check of a
 * field serves, and a program with forms alone carries no validator of JSON Schema.
 */
export const formRules: JsonSchemaRules = {
  // `requestedSchemaOf` accepts less than JSON Schema does, and says more about it.
  findProblem: () => undefined,
  createValidator: createFormValidator,
  stopsEarly: true,
}

/** Applies what clients see, and what they do not: a pattern beside a format, and `additionalProperties`. */
function createFormValidator(jsonSchema: JsonObject, errorSubject: string): (value: unknown) => readonly SchemaIssue[] {
  const { root, fields } = resolveFields(jsonSchema, errorSubject)
  const { properties, required } = requestedSchemaOf(jsonSchema, errorSubject)
  const requiredNames = new Set(required)
  const patterns = new Map([...fields].map(([name, field]) => [name, patternOf(field)]))
  const isOpen = root.schema['additionalProperties'] !== false
  return (value) => {
    if (!isJsonObject(value)) return [{ path: '', message: 'expected an object' }]
    const unknownNames = isOpen ? [] : Object.keys(value).filter((name) => !fields.has(name))
    const issues: SchemaIssue[] = unknownNames.map((name) => ({
      path: jsonPointerOf([name]),
      message: 'the form has no such field',
    }))
    for (const [name, definition] of Object.entries(properties)) {
      const message = Object.hasOwn(value, name)
        ? describeMismatch(definition, patterns.get(name), value[name])
        : requiredNames.has(name) && 'it is required'
      if (message) issues.push({ path: jsonPointerOf([name]), message })
    }
    return issues
  }
}

function describeMismatch(
  definition: PrimitiveSchemaDefinition,
  pattern: RegExp | undefined,
  value: unknown,
): string | undefined {
  const expected = describeFieldMismatch(definition, value)
  if (expected !== undefined) return `expected ${expected}`
  return typeof value !== 'string' || (pattern?.test(value) ?? true) ? undefined : `expected a match of ${pattern}`
}

function patternOf(field: Field): RegExp | undefined {
  const pattern = readTextKeyword(field, 'pattern', maxPatternLength)
  if (pattern === undefined) return undefined
  try {
    return new RegExp(pattern, 'u')
  } catch (cause) {
    throw fieldError(field, '"pattern" is not a regular expression', cause)
  }
}
