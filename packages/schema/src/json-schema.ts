import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import { admitSchema, dialectOf } from './json-schema/admit-schema.ts'
import { dialectCopy } from './json-schema/dialect-copy.ts'
import { errorCodes } from './basic/error-codes.ts'
import type { JsonObject } from './basic/json.ts'
import type { JsonSchemaCompiler, SchemaIssue } from './json-schema/json-schema-compiler.ts'
import { McpError } from './basic/mcp-error.ts'
import { subschemas } from './json-schema/subschemas.ts'
import { maximumSteps, meter, pairwiseCheck, type StepBudget, tooMuchWork } from './json-schema/validation-work.ts'

export type { JsonSchemaCompiler, SchemaIssue } from './json-schema/json-schema-compiler.ts'

/**
 * Compiles a JSON Schema of dialect 2020-12 or draft-07 without `eval` and without ever fetching anything. The function
 * that it returns gives at most ten issues, and none for a valid value.
 *
 * Throws `McpError(internal)` with the reason when `admitSchema` refuses the schema. `format` is an annotation, as it is in
 * 2020-12. Validation is bounded: a value that takes too much work is answered with an issue that says so.
 */
export const compileJsonSchema: JsonSchemaCompiler = (schema) => {
  const refused = admitSchema(schema)
  if (refused !== undefined) throw new McpError(errorCodes.internal, `The JSON Schema is refused: ${refused}`)
  const validate = createValidate(schema)
  return (value) => {
    try {
      return validate(value)
    } catch (error) {
      return again(validate, value, error)
    }
  }
}

const maximumIssues = 10

/** Enough to name further issues of a value that is known to be invalid. */
const stepsForIssues = 20_000

type Validate = (value: unknown) => readonly SchemaIssue[]

function createValidate(schema: JsonObject): Validate {
  const dialect = dialectOf(schema)
  const copy = dialectCopy(schema, dialect ?? '2020-12')
  const found = subschemas(copy)
  const budget: StepBudget = { left: 0 }
  const parts = typeof found === 'string' ? [] : found
  meter(parts, budget)
  const checkPairs = pairwiseCheck(parts)
  // The library's type of a schema is open, and admitSchema has checked the form of the keywords that it reads.
  const quick = new Validator(copy as Schema, dialect, true)
  const thorough = new Validator(copy as Schema, dialect, false)
  return (value) => {
    checkPairs?.(value)
    budget.left = maximumSteps
    const { valid, errors } = quick.validate(value)
    if (valid) return []
    budget.left = stepsForIssues
    return issues(moreErrors(thorough, value) ?? errors)
  }
}

/** All that is wrong with a value, where that can be had cheaply. */
function moreErrors(thorough: Validator, value: unknown): OutputUnit[] | undefined {
  try {
    return thorough.validate(value).errors
  } catch {
    return undefined
  }
}

/** Values made in this process may hold what JSON has not, such as `undefined`; what counts is what would be sent. */
function again(validate: Validate, value: unknown, error: unknown): readonly SchemaIssue[] {
  if (error !== tooMuchWork) {
    try {
      return validate(JSON.parse(JSON.stringify(value)))
    } catch {
      return [{ path: '', message: 'It is not a JSON value that can be validated.' }]
    }
  }
  return [{ path: '', message: 'It is too large to be validated against this schema.' }]
}

/** Keywords that only say that something within, which the list names as well, is wrong. */
const wrappers: ReadonlySet<string> = new Set([
  ...'$ref properties patternProperties additionalProperties unevaluatedProperties propertyNames'.split(' '),
  ...'items prefixItems additionalItems unevaluatedItems dependentSchemas if allOf'.split(' '),
])

function issues(errors: readonly OutputUnit[]): readonly SchemaIssue[] {
  const causes = errors.filter(({ keyword }) => !wrappers.has(keyword)).slice(0, 10 * maximumIssues)
  const told = causes.filter((unit) => unit.keyword !== 'false' || !causes.some((other) => isWithin(other, unit)))
  return (told.length > 0 ? told : errors).slice(0, maximumIssues).map(issue)
}

/** What is invalid for another reason counts as unevaluated too, which would only mislead. */
function isWithin(other: OutputUnit, unit: OutputUnit): boolean {
  const inside = `${other.instanceLocation}/`.startsWith(`${unit.instanceLocation}/`)
  return other.keyword !== 'false' && inside
}

function issue({ instanceLocation, keyword, error }: OutputUnit): SchemaIssue {
  // The library writes locations as URI fragments.
  const path = decodeURIComponent(instanceLocation.slice(1))
  return { path, message: keyword === 'false' ? 'Nothing is allowed here.' : error }
}
