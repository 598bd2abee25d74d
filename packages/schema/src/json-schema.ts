/**
 * Validation by JSON Schema, within bounds.
 *
 * @module @x/schema/json-schema
 */

import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import { findSchemaProblem, dialectOf, type JsonSchemaCompiler, type SchemaIssue } from './json-schema/check-schema.ts'
import { boundPatterns } from './json-schema/bound-patterns.ts'
import { copyForDialect } from './json-schema/dialect-copy.ts'
import { errorCodes, McpError } from './basic/mcp-error.ts'
import type { JsonObject } from '@x/core'
import { collectSubschemas } from './json-schema/subschemas.ts'
import {
  maximumStepsFor,
  chargeAllSteps,
  createPairCheck,
  type StepBudget,
  workLimitError,
} from './json-schema/validation-work.ts'

export type { JsonSchemaCompiler, SchemaIssue } from './json-schema/check-schema.ts'

/**
 * Compiles a JSON Schema of dialect 2020-12 or draft-07 without `eval` and without network access. The returned
 * function gives at most ten issues, and none for a valid value.
 *
 * Throws `McpError(internal)` with the reason when the schema is rejected, and for a `pattern` or a key of
 * `patternProperties` whose matching time grows exponentially with the text, or has a back reference. `format` is an
 * annotation, as in 2020-12.
 *
 * Validation is bounded: by 300,000 applications of subschemas, 20 million pairs of `uniqueItems` and
 * `patternProperties`, and 30 million steps of matching, at most 10 million for one text. A value that takes more gets
 * an issue that says so.
 */
export const compileJsonSchema: JsonSchemaCompiler = (schema) => {
  const invalidReason = findSchemaProblem(schema)
  if (invalidReason !== undefined) throw schemaError(invalidReason)
  const validate = createValidator(schema)
  return (value) => {
    try {
      return validate(value)
    } catch (error) {
      return validateSerializedValue(validate, value, error)
    }
  }
}

function schemaError(reason: string): McpError {
  return new McpError(errorCodes.internal, `The JSON Schema is rejected: ${reason}`)
}

const maxIssues = 10

/**
 * The work limit for collecting further issues of an invalid value. A large value gets its first issue alone: each step
 * may give as many issues as members are required, which would cost many times what a valid value costs.
 */
const maxStepsForIssues = 500

type ValueValidator = (value: unknown) => readonly SchemaIssue[]

function createValidator(schema: JsonObject): ValueValidator {
  const dialect = dialectOf(schema)
  const schemaCopy = copyForDialect(schema, dialect ?? '2020-12')
  const subschemasOrProblem = collectSubschemas(schemaCopy)
  const budget: StepBudget = { remainingSteps: 0 }
  const subschemaList = typeof subschemasOrProblem === 'string' ? [] : subschemasOrProblem
  chargeAllSteps(subschemaList, budget)
  const patternProblem = boundPatterns(subschemaList, budget)
  if (patternProblem !== undefined) throw schemaError(patternProblem)
  const checkPairs = createPairCheck(subschemaList)
  // The library's schema type is open, and the form of the keywords that it reads was checked before.
  const firstIssueValidator = new Validator(schemaCopy as Schema, dialect, true)
  const allIssuesValidator = new Validator(schemaCopy as Schema, dialect, false)
  let isExhausted = false
  const validateFirst = (value: unknown): ReturnType<Validator['validate']> => {
    // A server that has found an expensive value for its schema has found it for every later result.
    if (isExhausted) throw workLimitError
    try {
      return firstIssueValidator.validate(value)
    } catch (error) {
      isExhausted = error === workLimitError
      throw error
    }
  }
  return (value) => {
    checkPairs?.(value)
    budget.remainingSteps = maximumStepsFor(value)
    const { valid, errors } = validateFirst(value)
    if (valid) return []
    budget.remainingSteps = maxStepsForIssues
    return toIssues(collectAllErrors(allIssuesValidator, value) ?? errors)
  }
}

/** Returns all issues of a value where that is cheap. */
function collectAllErrors(allIssuesValidator: Validator, value: unknown): OutputUnit[] | undefined {
  try {
    return allIssuesValidator.validate(value).errors
  } catch {
    return undefined
  }
}

/** A value of this process may contain what JSON omits, such as `undefined`. Its serialized form is validated. */
function validateSerializedValue(validate: ValueValidator, value: unknown, error: unknown): readonly SchemaIssue[] {
  if (error !== workLimitError) {
    try {
      return validate(JSON.parse(JSON.stringify(value)))
    } catch {
      return [{ path: '', message: 'It is not a JSON value that can be validated.' }]
    }
  }
  return [{ path: '', message: 'It is too large to be validated against this schema.' }]
}

/** Keywords that only report a nested issue, which the list contains too. */
const wrapperKeywords: ReadonlySet<string> = new Set([
  ...'$ref properties patternProperties additionalProperties unevaluatedProperties propertyNames'.split(' '),
  ...'items prefixItems additionalItems unevaluatedItems dependentSchemas if allOf'.split(' '),
])

function toIssues(errors: readonly OutputUnit[]): readonly SchemaIssue[] {
  const causeErrors = errors.filter(({ keyword }) => !wrapperKeywords.has(keyword)).slice(0, 10 * maxIssues)
  const reportedErrors = causeErrors.filter(
    (error) => error.keyword !== 'false' || !causeErrors.some((other) => isWithin(other, error)),
  )
  return (reportedErrors.length > 0 ? reportedErrors : errors).slice(0, maxIssues).map(toIssue)
}

/** A value that is invalid for another reason also counts as unevaluated, which would mislead. */
function isWithin(inner: OutputUnit, outer: OutputUnit): boolean {
  const isNested = `${inner.instanceLocation}/`.startsWith(`${outer.instanceLocation}/`)
  return inner.keyword !== 'false' && isNested
}

function toIssue({ instanceLocation, keyword, error }: OutputUnit): SchemaIssue {
  // The library writes locations as URI fragments.
  const path = decodeURIComponent(instanceLocation.slice(1))
  return { path, message: keyword === 'false' ? 'Nothing is allowed here.' : error }
}
