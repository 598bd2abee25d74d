/**
 * Validation by JSON Schema, within bounds.
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
import {
  maximumStepsFor,
  chargeAllSteps,
  createPairCheck,
  type StepBudget,
  workLimitError,
} from './json-schema/validation-work.ts'

export type { JsonSchemaCompiler, SchemaIssue } from './json-schema/check-schema.ts'

/**
 * Compiles a JSON Schema that may come from a peer, without `eval` and without network access. The dialect is 2020-12
 * or draft-07. The returned function gives at most ten issues, and none for a valid value. Throws `McpError(internal)`
 * with the reason when the schema is rejected.
 *
 * `format`, `pattern` and `patternProperties` are annotations: a pattern of a peer is never run, because the time of a
 * backtracking engine may grow exponentially with the text. `compileTrustedJsonSchema` evaluates patterns.
 *
 * Validation is bounded by 300,000 applications of subschemas, and by 20 million pairs of `uniqueItems`. A value that
 * takes more gets an issue that says so.
 */
export const compileJsonSchema: JsonSchemaCompiler = (schema) => compile(schema, ignorePatterns)

/**
 * Compiles a JSON Schema that the author of this program wrote. It is {@link compileJsonSchema} with `pattern` and
 * `patternProperties`, which run as regular expressions of JavaScript in Unicode mode: their cost is the author's to
 * judge, as it is in a schema of zod.
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
 * The work limit for collecting further issues of an invalid value. A large value gets its first issue alone: each step
 * may give as many issues as members are required, which would cost many times what a valid value costs.
 */
const maxStepsForIssues = 500

type ValueValidator = (value: unknown) => readonly SchemaIssue[]

function createValidator(schema: JsonObject, treatPatterns: PatternTreatment): ValueValidator {
  const dialect = dialectOf(schema) ?? '2020-12'
  const schemaCopy = copyForDialect(schema, dialect)
  const subschemasOrProblem = collectSubschemas(schemaCopy)
  const subschemaList = typeof subschemasOrProblem === 'string' ? [] : subschemasOrProblem
  // The library's schema type is open, and the form of the keywords that it reads was checked before.
  const librarySchema = schemaCopy as Schema
  // Resolved before patterns are removed: a reference may lead to a schema within a removed keyword.
  const schemasByUri = dereference(librarySchema)
  treatPatterns(subschemaList)
  const budget: StepBudget = { remainingSteps: 0 }
  chargeAllSteps(subschemaList, budget)
  const checkPairs = createPairCheck(subschemaList)
  let isExhausted = false
  const findFirstIssue = (value: unknown): ValidationResult => {
    // A server that has found an expensive value for its schema has found it for every later result.
    if (isExhausted) throw workLimitError
    try {
      return validate(value, librarySchema, dialect, schemasByUri, true)
    } catch (error) {
      isExhausted = error === workLimitError
      throw error
    }
  }
  /** Returns all issues of a value where that is cheap. */
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

/** A value of this process may contain what JSON omits, such as `undefined`. Its serialized form is validated. */
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
