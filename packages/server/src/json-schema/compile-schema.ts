import type { StandardSchemaV1, StandardTypedV1 } from '@standard-schema/spec'
import { DefinitionError } from '@x/exchange'
import {
  findSchemaProblem,
  type JsonObject,
  type JsonSchemaCompiler,
  type JsonValue,
  type SchemaIssue,
  isJsonObject,
} from '@x/schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { describeType, freezeJsonObject } from '../request/json-copy.ts'
import { compileValidator } from './compile-validator.ts'
import { type CheckedValue, createRejectedValue, maxShownIssues, type RejectedValue } from './rejected-value.ts'
import { createZodIssueFinder, isZodSchema, type ZodIssueFinder, type ZodSchema } from './zod-issues.ts'
import { createInterpretedValidator } from './zod-key.ts'

/**
 * The schema of arguments or results. It is either JSON Schema, or a schema of a library that implements Standard
 * Schema and Standard JSON Schema (zod 4, ArkType, valibot through `toStandardJsonSchema`).
 */
export type AnySchema = StandardTypedV1 | JsonObject

/**
 * Schemas by the names of properties, as the official SDK takes them. No definition accepts it. It is admitted where
 * types are inferred, so that the error of the compiler is that of {@link OneSchema}.
 */
export interface RawShape {
  readonly [property: string]: StandardTypedV1
}

/** A schema. The compiler shows the example in the error of a value that is none. */
export interface OneSchemaSuchAs<_Example extends string> extends StandardTypedV1 {}

/**
 * The type of a member that takes one schema. A raw shape is an error. The branch of the error also takes schemas, so
 * that a generic function can pass on a schema whose type it does not know.
 */
export type OneSchema<S> = [S] extends [RawShape] ? OneSchemaSuchAs<'z.object({ … })'> : S

/** The type that a handler receives for an accepted value. `undefined` if there is no schema. */
export type SchemaOutput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferOutput<S>
  : S extends undefined
    ? { readonly [name: string]: never }
    : JsonObject

/** The type of the values that a schema accepts. */
export type SchemaInput<S> = S extends StandardTypedV1 ? StandardTypedV1.InferInput<S> : unknown

/**
 * The type of the values that a caller passes, which is the input side of the schema. `undefined` if there is no
 * schema.
 */
export type CallerInput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferInput<S>
  : S extends undefined
    ? undefined
    : JsonObject

/** The type of the arguments that a caller passes to a prompt. Each is a string (server/prompts, getting a prompt). */
export type PromptArguments<S> = S extends StandardTypedV1
  ? TextArguments<StandardTypedV1.InferInput<S>>
  : S extends undefined
    ? undefined
    : JsonObject

/** Replaces the types that are not strings by `string`, such as that of `z.coerce.number()`. */
export type TextArguments<Input> = {
  [Name in keyof Input]: Input[Name] extends string | undefined ? Input[Name] : string
}

/**
 * The type of the values that a caller receives, which is the output side of the schema. `undefined` if there is no
 * schema.
 */
export type CallerOutput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferOutput<S>
  : S extends undefined
    ? undefined
    : JsonValue

/** A compiled schema, with the check of values and the JSON Schema for clients. */
export interface CompiledSchema {
  readonly jsonSchema: JsonObject
  readonly check: (value: unknown) => Awaitable<CheckedValue>
  /**
   * Returns the check of another zod schema that has the same JSON Schema. The other schema is expected to be used
   * once, so zod interprets it instead of compiling it.
   */
  readonly createCheckFor?: ((schema: ZodSchema) => CompiledSchema['check']) | undefined
}

/** The definition that a schema belongs to, and the compiler to use. */
export interface SchemaCompilationSettings {
  /** The subject of errors, such as `tool "greet", input`. */
  readonly errorSubject: string
  /** The side of the schema to use. If a schema transforms, clients write its input and read its output. */
  readonly side: 'input' | 'output'
  /** Compiles JSON Schema. Default: `compileTrustedJsonSchema`, which the first value loads. */
  readonly compile?: JsonSchemaCompiler | undefined
  /** The maximum number of array items and object members in a value. Default: 10,000. The output side has no limit. */
  readonly maxElements?: number | undefined
}

/**
 * Compiles a schema. Throws {@link DefinitionError} for a schema without JSON Schema, or whose JSON Schema must not be
 * used (basic/index, JSON Schema usage). It never falls back to an empty schema.
 */
export function compileSchema(schema: AnySchema, schemaOptions: SchemaCompilationSettings): CompiledSchema {
  if (Object(schema) !== schema)
    throw unusableSchemaError(schemaOptions, `it is ${describeType(schema)}; write a schema, as in z.object({ … })`)
  const standardProps = standardPropsOf(schema)
  if (standardProps === undefined) {
    rejectSchemaMap(schema, schemaOptions)
    const jsonSchema = requireValidSchema(freezeJsonObject(schema, schemaOptions.errorSubject), schemaOptions)
    // The default validator stops after ten issues. For other validators the number of issues is unknown.
    const addBounds = createBoundedCheckFactory(jsonSchema, schemaOptions)
    const finder = { ...emptyFinder, isComplete: schemaOptions.compile === undefined }
    return { jsonSchema, check: addBounds(compileCheck(jsonSchema, schemaOptions), () => finder) }
  }
  if (typeof standardProps.validate !== 'function') {
    throw unusableSchemaError(
      schemaOptions,
      `the schema of ${standardProps.vendor} cannot validate; it must implement Standard Schema`,
    )
  }
  const jsonSchema = requireValidSchema(toJsonSchema(standardProps, schemaOptions), schemaOptions)
  const addBounds = createBoundedCheckFactory(jsonSchema, schemaOptions)
  const isZod = isZodSchema(schema)
  const createFinder = () => (isZod ? createZodIssueFinder(schema) : undefined)
  return {
    jsonSchema,
    check: addBounds(createStandardCheck(standardProps.validate), createFinder),
    createCheckFor: isZod
      ? (equalSchema) =>
          addBounds(createStandardCheck(createInterpretedValidator(equalSchema)), () =>
            createZodIssueFinder(equalSchema),
          )
      : undefined,
  }
}

/** The input schema that the specification recommends for a tool without parameters (server/tools, tool). */
const noArgumentsSchema = Object.freeze({ type: 'object', additionalProperties: false })

/** Compiles {@link noArgumentsSchema}, which needs no validator of JSON Schema. */
const compileNoArguments: JsonSchemaCompiler = () => (value) =>
  Object.keys(Object(value)).map((name) => ({ path: jsonPointerOf([name]), message: 'Nothing is allowed here.' }))

/** Compiles the schema of arguments. A definition without a schema has no arguments. */
export function compileInput(schema: AnySchema | undefined, schemaOptions: SchemaCompilationSettings): CompiledSchema {
  if (schema !== undefined) return compileSchema(schema, schemaOptions)
  return compileSchema(noArgumentsSchema, { ...schemaOptions, compile: compileNoArguments })
}

/**
 * Throws for an object whose members are schemas. Other MCP libraries accept such an object, but it is no valid JSON
 * Schema.
 */
function rejectSchemaMap(schema: AnySchema, schemaOptions: SchemaCompilationSettings): void {
  for (const [name, member] of Object.entries(schema)) {
    if (typeof member !== 'object' || member === null || !('~standard' in member)) continue
    const reason = `it is an object with the schema of ${JSON.stringify(name)}; write one schema, as in z.object({ … })`
    throw unusableSchemaError(schemaOptions, reason)
  }
}

type IssueFinderFactory = () => ZodIssueFinder | undefined

/**
 * Creates the function that adds bounds to a check. Only values from a peer are bounded, because the author is
 * responsible for what handlers return.
 */
function createBoundedCheckFactory(
  jsonSchema: JsonObject,
  { side, maxElements = defaultMaxElements }: SchemaCompilationSettings,
): (check: Check, createFinder: IssueFinderFactory) => Check {
  if (side === 'output') return (check) => check
  const maxMissingMembers = computeMaxMissingMembers(jsonSchema)
  return (check, createFinder) => createBoundedCheck(check, createFinder, { maxElements, maxMissingMembers })
}

/**
 * The part of a schema that Standard Schema and Standard JSON Schema define. Both members are optional, because a
 * schema may lack them.
 */
interface StandardProps {
  readonly vendor: string
  readonly validate?: StandardSchemaV1['~standard']['validate'] | undefined
  readonly jsonSchema?:
    | { readonly [Side in SchemaCompilationSettings['side']]?: (options: { target: string }) => object }
    | undefined
}

function standardPropsOf(schema: AnySchema): StandardProps | undefined {
  const schemaObject: object = schema
  if (
    !('~standard' in schemaObject) ||
    typeof schemaObject['~standard'] !== 'object' ||
    schemaObject['~standard'] === null
  )
    return undefined
  // Standard Schema reserves this key and defines its value. The members are checked before use.
  return schemaObject['~standard'] as StandardProps
}

function toJsonSchema(standardProps: StandardProps, schemaOptions: SchemaCompilationSettings): JsonObject {
  const convert = standardProps.jsonSchema?.[schemaOptions.side]
  if (convert === undefined) {
    const library =
      'use a library that implements Standard JSON Schema (zod 4.2 or later; valibot with toStandardJsonSchema() ' +
      'of @valibot/to-json-schema), or give JSON Schema'
    const isZod = standardProps.vendor === 'zod'
    const advice = isZod ? 'it is of zod before 4.2: npm install zod@4, and import from "zod"' : library
    throw unusableSchemaError(
      schemaOptions,
      `the schema of ${standardProps.vendor} has no JSON Schema to show to clients; ${advice}`,
    )
  }
  try {
    return freezeJsonObject(convert({ target: 'draft-2020-12' }), schemaOptions.errorSubject)
  } catch (cause) {
    const causeMessage = cause instanceof Error ? cause.message : 'its conversion failed'
    const advice = conversionAdvice(causeMessage, schemaOptions.side)
    const reason = `the schema of ${standardProps.vendor} cannot be shown as JSON Schema: ${causeMessage}; ${advice}`
    throw new DefinitionError('schema', schemaOptions.errorSubject, { reason, cause })
  }
}

/** What to write instead of a type that JSON does not have, by the words of zod's message. */
const inputAdvice: readonly (readonly [RegExp, string])[] = [
  [/\bdate\b/i, 'z.iso.datetime().transform((text) => new Date(text))'],
  [/\bbigint\b/i, 'z.string().regex(/^-?\\d+$/).transform(BigInt)'],
  [/\bmap\b/i, 'z.record(z.string(), …).transform((record) => new Map(Object.entries(record)))'],
  [/\bset\b/i, 'z.array(…).transform((items) => new Set(items))'],
]

function conversionAdvice(message: string, side: SchemaCompilationSettings['side']): string {
  // An output is sent as it is, so a transform has no place in it.
  if (side === 'output') return 'describe the JSON that is sent, and convert the value in run before it is returned'
  const example = inputAdvice.find(([pattern]) => pattern.test(message))?.[1]
  return `describe its JSON form and transform that${example === undefined ? '' : `, as in ${example}`}`
}

function requireValidSchema(jsonSchema: JsonObject, schemaOptions: SchemaCompilationSettings): JsonObject {
  const reason = findSchemaProblem(jsonSchema)
  if (reason !== undefined) throw unusableSchemaError(schemaOptions, reason)
  return jsonSchema
}

function compileCheck(jsonSchema: JsonObject, schemaOptions: SchemaCompilationSettings): CompiledSchema['check'] {
  const validate = compileValidator(jsonSchema, schemaOptions)
  return (value) =>
    mapAwaitable(validate(value), (issues) =>
      issues.length === 0 ? { value } : createRejectedValue(issues, (issue) => issue),
    )
}

function createStandardCheck(validate: StandardSchemaV1['~standard']['validate']): CompiledSchema['check'] {
  return (value) =>
    mapAwaitable(validate(value), (result) =>
      result.issues ? createRejectedValue(result.issues, schemaIssueOf) : result,
    )
}

function schemaIssueOf(issue: StandardSchemaV1.Issue): SchemaIssue {
  return { path: jsonPointerOf(issue.path ?? []), message: issue.message + describeUnionBranches(issue) }
}

/** Returns the path of an issue as a JSON Pointer. */
function jsonPointerOf(path: NonNullable<StandardSchemaV1.Issue['path']>): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment))
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The maximum number of messages about union branches in one description. */
const maxShownBranchMessages = 8

/** The maximum number of branches, and of issues in each branch, that are searched for messages. */
const maxBranchIssues = 100

/**
 * Returns the expected values of a union. The message of zod says only that no branch matched, and each branch has its
 * own issues.
 */
function describeUnionBranches(issue: StandardSchemaV1.Issue): string {
  if (!('errors' in issue) || !Array.isArray(issue.errors)) return ''
  const branchMessages = new Set<string>()
  for (const branch of issue.errors.slice(0, maxBranchIssues)) {
    const branchIssues: unknown[] = Array.isArray(branch) ? branch.slice(0, maxBranchIssues) : [branch]
    for (const message of branchIssues.map(readIssueMessage)) if (message !== undefined) branchMessages.add(message)
    if (branchMessages.size >= maxShownBranchMessages) break
  }
  return branchMessages.size === 0 ? '' : ` (${[...branchMessages].slice(0, maxShownBranchMessages).join('; or ')})`
}

function readIssueMessage(issue: unknown): string | undefined {
  const hasMessage = typeof issue === 'object' && issue !== null && 'message' in issue
  return hasMessage && typeof issue.message === 'string' ? issue.message : undefined
}

function unusableSchemaError({ errorSubject }: SchemaCompilationSettings, reason: string): DefinitionError {
  return new DefinitionError('schema', errorSubject, { reason })
}

/** The default maximum number of JSON values (items and members) in the arguments of one call. */
// limit: `maxArgumentElements` | count | values and members in the arguments of a tool or prompt | an error before the
//   schema is applied
const defaultMaxElements = 10_000

/**
 * The maximum number of possible issues of a value that is validated, if the validator cannot be stopped after the
 * first ones.
 */
const maxPossibleIssues = 10_000

/**
 * The number of possible issues up to which a value goes to the validator directly, because it costs little to produce
 * all of them.
 */
const maxIssuesWithoutFinder = 200

type Check = (value: unknown) => Awaitable<CheckedValue>

/**
 * Adds bounds to a check, so that rejecting a value is never expensive. If a validator lists every fault, a value full
 * of faults takes thousands of times longer than a valid value of the same size (CVE-2026-111768).
 *
 * A value with few elements goes directly to the validator.
 */
function createBoundedCheck(
  check: Check,
  createFinder: IssueFinderFactory,
  { maxElements, maxMissingMembers }: Pick<ElementCounter, 'maxElements' | 'maxMissingMembers'>,
): Check {
  let finder: ZodIssueFinder | undefined
  return (value) => {
    const counter: ElementCounter = { elementCount: 0, issueCount: 0, maxElements, maxMissingMembers }
    countElements(value, counter)
    if (counter.elementCount > maxElements) return rejectElements(`more than ${maxElements} elements; send fewer`)
    if (counter.issueCount <= maxIssuesWithoutFinder) return check(value)
    finder ??= createFinder() ?? emptyFinder
    const issues = finder.find(value, maxShownIssues)
    if (issues.length > 0) return toRejectedValue(issues)
    if (!finder.isComplete && counter.issueCount > maxPossibleIssues)
      return rejectElements(`more than ${maxPossibleIssues} possible faults; send fewer elements`)
    return check(value)
  }
}

/** A finder that finds nothing, for validators whose issues are unknown. */
const emptyFinder: ZodIssueFinder = { find: () => [], isComplete: false }

function toRejectedValue(issues: readonly StandardSchemaV1.Issue[]): RejectedValue {
  return { issues: issues.map(schemaIssueOf), ...(issues.length === maxShownIssues && { total: Infinity }) }
}

function rejectElements(problem: string): CheckedValue {
  const message = `It has ${problem}. Values in arrays and members of objects count as elements.`
  return { issues: [{ path: '', message }] }
}

interface ElementCounter {
  elementCount: number
  /**
   * The number of issues that a validator could find at most: one for each element, and one for each required member
   * that is missing.
   */
  issueCount: number
  readonly maxElements: number
  readonly maxMissingMembers: number
}

/** Counts the elements of a value, and stops when the count exceeds the bound. */
function countElements(value: unknown, counter: ElementCounter): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    counter.elementCount += value.length
    counter.issueCount += value.length
    for (const item of value) {
      if (counter.elementCount > counter.maxElements) return
      if (typeof item === 'object') countElements(item, counter)
    }
    return
  }
  let memberCount = 0
  // The loop creates no list of the members, because it runs for every call and most calls are small.
  for (const key in value) {
    memberCount++
    if (++counter.elementCount > counter.maxElements) return
    // The cast is safe, because every member of an object can be read as unknown.
    const member: unknown = (value as Readonly<Record<string, unknown>>)[key]
    if (typeof member === 'object') countElements(member, counter)
  }
  counter.issueCount += Math.max(memberCount, counter.maxMissingMembers)
}

/** Returns the maximum number of required members that one object can lack, over all alternatives of the schema. */
function computeMaxMissingMembers(jsonSchema: JsonObject): number {
  const requiredCounts = new Map<JsonObject, number>()
  let maxCount = 0
  const pendingValues: (JsonValue | undefined)[] = [jsonSchema]
  while (pendingValues.length > 0) {
    const value = pendingValues.pop()
    if (isJsonObject(value)) maxCount = Math.max(maxCount, countRequiredMembers(value, jsonSchema, requiredCounts))
    if (typeof value === 'object' && value !== null) pendingValues.push(...Object.values(value))
  }
  return maxCount
}

function countRequiredMembers(schema: JsonObject, root: JsonObject, requiredCounts: Map<JsonObject, number>): number {
  const knownCount = requiredCounts.get(schema)
  if (knownCount !== undefined) return knownCount
  // The count is set to 0 first, so that a schema that refers to itself does not recurse forever.
  requiredCounts.set(schema, 0)
  const { required, anyOf, oneOf, allOf, $ref } = schema
  let requiredCount = Array.isArray(required) ? required.length : 0
  for (const branches of [anyOf, oneOf, allOf, typeof $ref === 'string' ? [resolveLocalReference($ref, root)] : []]) {
    for (const branch of Array.isArray(branches) ? branches : []) {
      if (isJsonObject(branch)) requiredCount += countRequiredMembers(branch, root, requiredCounts)
    }
  }
  requiredCounts.set(schema, requiredCount)
  return requiredCount
}

/** Returns the part of a schema to which a local reference refers. */
function resolveLocalReference(reference: string, root: JsonObject): JsonValue | undefined {
  let resolvedValue: JsonValue | undefined = root
  for (const segment of reference.split('/').slice(1)) {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~')
    resolvedValue = isJsonObject(resolvedValue) && Object.hasOwn(resolvedValue, key) ? resolvedValue[key] : undefined
  }
  return resolvedValue
}
