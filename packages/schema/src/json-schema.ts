/**
 * Validates against JSON Schema, with bounded work.
 *
 * @module @x/schema/json-schema
 */

import { dereference, type OutputUnit, type Schema, validate, type ValidationResult } from '@cfworker/json-schema'
import { findSchemaProblem, dialectOf, type JsonSchemaCompiler, type SchemaIssue } from './json-schema/check-schema.ts'
import { copyForDialect } from './json-schema/dialect-copy.ts'
import { ignorePatterns } from './json-schema/ignore-patterns.ts'
import { errorCodes, McpError } from './basic/mcp-error.ts'
import type { JsonObject } from '@x/core'
import { collectSubschemas, type Subschema } from './json-schema/subschemas.ts'
import { maximumStepsFor, chargeAllSteps, createPairCheck, workLimitError } from './json-schema/validation-work.ts'

export type { JsonSchemaCompiler, SchemaIssue } from './json-schema/check-schema.ts'

/**
 * Compiles a JSON Schema that may come from a peer, without `eval` and without network access, in dialect 2020-12 or
 * draft-07. The returned function gives at most ten issues, and an empty array for a valid value. Throws
 * `McpError(internal)` with the reason when the schema is rejected.
 *
 * `format`, `pattern` and `patternProperties` reject no value: a peer's pattern is never run, because the time of a
 * backtracking engine may grow exponentially with the text. `compileTrustedJsonSchema` evaluates patterns.
 *
 * One validation applies subschemas at most 300,000 times, and compares at most 20 million pairs of items for
 * `uniqueItems`. A value that needs more gets a single issue, which says that the value is too large.
 */
export const compileJsonSchema: JsonSchemaCompiler = (schema) => compile(schema, ignorePatterns)

/**
 * Compiles a JSON Schema that the author of this program wrote. Unlike {@link compileJsonSchema}, it evaluates
 * `pattern` and `patternProperties`, as JavaScript regular expressions in Unicode mode. You judge their cost, as with a
 * regular expression in a zod schema.
 */
export const compileTrustedJsonSchema: JsonSchemaCompiler = (schema) => compile(schema, keepPatterns)

type PatternTreatment = (allSubschemas: readonly Subschema[]) => void

const keepPatterns: PatternTreatment = () => {}

function compile(schema: JsonObject, treatPatterns: PatternTreatment): ValueValidator {
  const invalidReason = findSchemaProblem(schema)
  if (invalidReason !== undefined) {
    throw new McpError(errorCodes.internal, `The JSON Schema is rejected: ${invalidReason}`)
  }
  const findIssues = createValidator(schema, treatPatterns)
  return (value) => {
    try {
      return findIssues(value)
    } catch (error) {
      return findSerializedIssues(findIssues, value, error)
    }
  }
}

const maxIssues = 10

/**
 * For a second validation, which collects all issues of an invalid value; one that needs more steps gets only its first
 * issue. A step may give one issue for each required member, so without this limit an invalid value could cost many
 * times as much as a valid one.
 */
const maxStepsForIssues = 500

type ValueValidator = (value: unknown) => readonly SchemaIssue[]

function createValidator(schema: JsonObject, treatPatterns: PatternTreatment): ValueValidator {
  const dialect = dialectOf(schema) ?? '2020-12'
  const schemaCopy = copyForDialect(schema, dialect)
  const subschemasOrProblem = collectSubschemas(schemaCopy)
  const subschemaList = typeof subschemasOrProblem === 'string' ? [] : subschemasOrProblem
  // The library's schema type allows any keyword. Those that it reads were checked before.
  const librarySchema = schemaCopy as Schema
  // Before patterns are removed, because a reference may name a schema inside a removed keyword.
  const schemasByUri = dereference(librarySchema)
  treatPatterns(subschemaList)
  const budget = { remainingSteps: 0 }
  chargeAllSteps(subschemaList, budget)
  const checkPairs = createPairCheck(subschemaList)
  let isExhausted = false
  const findFirstIssue = (value: unknown): ValidationResult => {
    // Once a value has exceeded the work limit, every later one is rejected at once: a peer could send such values
    // again and again.
    if (isExhausted) throw workLimitError
    try {
      return validate(value, librarySchema, dialect, schemasByUri, true)
    } catch (error) {
      isExhausted = error === workLimitError
      throw error
    }
  }
  /** Undefined if the budget has too few steps for all issues. */
  const findAllIssues = (value: unknown): OutputUnit[] | undefined => {
    try {
      return validate(value, librarySchema, dialect, schemasByUri, false).errors
    } catch {
      return undefined
    }
  }
  return (value) => {
    checkPairs?.(value)
    budget.remainingSteps = maximumStepsFor(value)
    const { valid, errors } = findFirstIssue(value)
    if (valid) return []
    budget.remainingSteps = maxStepsForIssues
    return toIssues(findAllIssues(value) ?? errors)
  }
}

/**
 * The library cannot validate some values, for example because they contain `undefined`, so their JSON form is
 * validated. A value that exceeded the work limit gets a single issue instead.
 */
function findSerializedIssues(findIssues: ValueValidator, value: unknown, error: unknown): readonly SchemaIssue[] {
  if (error !== workLimitError) {
    try {
      return findIssues(JSON.parse(JSON.stringify(value)))
    } catch {
      return [{ path: '', message: 'It is not a JSON value that can be validated.' }]
    }
  }
  return [{ path: '', message: 'It is too large to be validated against this schema.' }]
}

/** Their errors only repeat a nested one, which is in the list too. */
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

/**
 * Returns true if `inner` is an error below the location of `outer`, and not the error of a `false` schema. `outer`
 * then only says that a member is unevaluated, which is a consequence of `inner`, so it is not reported.
 */
function isWithin(inner: OutputUnit, outer: OutputUnit): boolean {
  const isNested = `${inner.instanceLocation}/`.startsWith(`${outer.instanceLocation}/`)
  return inner.keyword !== 'false' && isNested
}

function toIssue({ instanceLocation, keyword, error }: OutputUnit): SchemaIssue {
  // The library writes locations as URI fragments.
  const path = decodeURIComponent(instanceLocation.slice(1))
  return { path, message: keyword === 'false' ? 'Nothing is allowed here.' : error }
}
