import type { StandardSchemaV1, StandardTypedV1 } from '@standard-schema/spec'
import { DefinitionError } from '@x/exchange'
import { type JsonObject, type JsonValue, type SchemaIssue, isJsonObject } from '@x/schema'
import { resolveReference } from '@x/schema/internal'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { describeType, freezeJsonObject } from '../request/json-copy.ts'
import { type CheckedValue, createRejectedValue, maxShownIssues, type RejectedValue } from './rejected-value.ts'
import type { ZodIssueFinder } from './zod-issues.ts'
import { createInterpretedValidator } from './zod-key.ts'
import { isZodSchema, type ZodSchema } from './zod-schema.ts'

/**
 * A schema of arguments or results: JSON Schema, or a schema of a library that implements Standard Schema and Standard
 * JSON Schema (zod 4, ArkType, valibot through `toStandardJsonSchema`).
 */
export type AnySchema = StandardTypedV1 | JsonObject

/**
 * Schemas by the names of properties, as the official SDK takes them. No definition accepts it; it is admitted where
 * types are inferred, so that the compiler's error is that of {@link OneSchema}.
 */
export interface RawShape {
  readonly [property: string]: StandardTypedV1
}

/** A schema. For a value that is none, the compiler's error shows the example. */
export interface OneSchemaSuchAs<_Example extends string> extends StandardTypedV1 {}

/**
 * For a member that takes one schema; a raw shape is an error. The error's branch takes schemas too, so that a generic
 * function can pass on a schema whose type it does not know.
 */
export type OneSchema<S> = [S] extends [RawShape] ? OneSchemaSuchAs<'z.object({ … })'> : S

/** The type that a handler receives for an accepted value. `undefined` if there is no schema. */
export type SchemaOutput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferOutput<S>
  : S extends undefined
    ? { readonly [name: string]: never }
    : JsonObject

/** The type that a schema accepts. */
export type SchemaInput<S> = S extends StandardTypedV1 ? StandardTypedV1.InferInput<S> : unknown

/** The type that a caller passes, which is the schema's input side. `undefined` if there is no schema. */
export type CallerInput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferInput<S>
  : S extends undefined
    ? undefined
    : JsonObject

/** The type that a caller passes to a prompt. Each argument is a string (server/prompts, getting a prompt). */
export type PromptArguments<S> = S extends StandardTypedV1
  ? TextArguments<StandardTypedV1.InferInput<S>>
  : S extends undefined
    ? undefined
    : JsonObject

/** Makes `string` of types that are not strings, such as that of `z.coerce.number()`. */
export type TextArguments<Input> = {
  [Name in keyof Input]: Input[Name] extends string | undefined ? Input[Name] : string
}

/** The type that a caller receives, which is the schema's output side. `undefined` if there is no schema. */
export type CallerOutput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferOutput<S>
  : S extends undefined
    ? undefined
    : JsonValue

/** A schema, ready to check values, with the JSON Schema for clients. */
export interface CompiledSchema {
  readonly jsonSchema: JsonObject
  readonly check: (value: unknown) => Awaitable<CheckedValue>
  /**
   * The check for another zod schema that has the same JSON Schema. That one is expected to be used once, so zod
   * interprets it instead of compiling it.
   */
  readonly createCheckFor?: ((schema: ZodSchema) => CompiledSchema['check']) | undefined
}

/** Returns what is wrong with a value, and an empty list for a valid one. */
export type ValueValidator = (value: unknown) => Awaitable<readonly SchemaIssue[]>

/** What is done with JSON Schema. A form needs a small part of it, and carries no more. */
export interface JsonSchemaRules {
  /** Returns why a JSON Schema must not be used, if it must not. */
  readonly findProblem: (jsonSchema: JsonObject) => string | undefined
  /** Makes the validator of a valid JSON Schema. Throws {@link DefinitionError}. */
  readonly createValidator: (jsonSchema: JsonObject, errorSubject: string) => ValueValidator
  /** True if a validator stops after its first issues. */
  readonly stopsEarly: boolean
}

/** The definition that a schema belongs to, and what is done with it. */
export interface SchemaCompilationSettings {
  /** Subject of errors, such as `tool "greet", input`. */
  readonly errorSubject: string
  /** The side of the schema to use. If a schema transforms, clients write its input and read its output. */
  readonly side: 'input' | 'output'
  readonly rules: JsonSchemaRules
  /** How many array items and object members a value may have. Default: 10,000. The output side has no limit. */
  readonly maxElements?: number | undefined
}

/**
 * Throws {@link DefinitionError} for a schema without JSON Schema, or whose JSON Schema must not be used (basic/index,
 * JSON Schema usage). It never falls back to an empty schema, which would accept anything.
 */
export function compileSchema(schema: AnySchema, schemaOptions: SchemaCompilationSettings): CompiledSchema {
  if (Object(schema) !== schema)
    throw unusableSchemaError(schemaOptions, `it is ${describeType(schema)}; write a schema, as in z.object({ … })`)
  const standardProps = standardPropsOf(schema)
  if (standardProps === undefined) {
    rejectSchemaMap(schema, schemaOptions)
    const jsonSchema = requireValidSchema(freezeJsonObject(schema, schemaOptions.errorSubject), schemaOptions)
    const addBounds = createBoundedCheckFactory(jsonSchema, schemaOptions)
    const finder = { ...emptyFinder, isComplete: schemaOptions.rules.stopsEarly }
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
  return {
    jsonSchema,
    check: addBounds(createStandardCheck(standardProps.validate), () => (isZod ? loadZodFinder(schema) : emptyFinder)),
    createCheckFor: isZod
      ? (equalSchema) =>
          addBounds(createStandardCheck(createInterpretedValidator(equalSchema)), () => loadZodFinder(equalSchema))
      : undefined,
  }
}

/** The first value that could have many faults loads it. Most servers never get one. */
async function loadZodFinder(schema: ZodSchema): Promise<ZodIssueFinder> {
  const { createZodIssueFinder } = await import('./zod-issues.ts')
  return createZodIssueFinder(schema) ?? emptyFinder
}

/** Recommended by the specification for a tool without parameters (server/tools, tool). */
const noArgumentsSchema = Object.freeze({ type: 'object', additionalProperties: false })

const findAnyArguments: ValueValidator = (value) =>
  Object.keys(Object(value)).map((name) => ({ path: jsonPointerOf([name]), message: 'Nothing is allowed here.' }))

/** Compiles the arguments' schema. Without one, a definition has no arguments. */
export function compileInput(schema: AnySchema | undefined, schemaOptions: SchemaCompilationSettings): CompiledSchema {
  if (schema !== undefined) return compileSchema(schema, schemaOptions)
  const rules = { ...schemaOptions.rules, createValidator: () => findAnyArguments, stopsEarly: false }
  return compileSchema(noArgumentsSchema, { ...schemaOptions, rules })
}

/** Throws for an object whose members are schemas. Other MCP libraries accept it, but it is no valid JSON Schema. */
function rejectSchemaMap(schema: AnySchema, schemaOptions: SchemaCompilationSettings): void {
  for (const [name, member] of Object.entries(schema)) {
    if (typeof member !== 'object' || member === null || !('~standard' in member)) continue
    const reason = `it is an object with the schema of ${JSON.stringify(name)}; write one schema, as in z.object({ … })`
    throw unusableSchemaError(schemaOptions, reason)
  }
}

type IssueFinderFactory = () => Awaitable<ZodIssueFinder>

/** Bounds a check. Only values from a peer are bounded; what handlers return is their author's responsibility. */
function createBoundedCheckFactory(
  jsonSchema: JsonObject,
  { side, maxElements = defaultMaxElements }: SchemaCompilationSettings,
): (check: Check, createFinder: IssueFinderFactory) => Check {
  if (side === 'output') return (check) => check
  const maxMissingMembers = computeMaxMissingMembers(jsonSchema)
  return (check, createFinder) => createBoundedCheck(check, createFinder, { maxElements, maxMissingMembers })
}

interface StandardProps {
  readonly vendor: string
  readonly validate?: StandardSchemaV1['~standard']['validate'] | undefined
  readonly jsonSchema?:
    | { readonly [Side in SchemaCompilationSettings['side']]?: (options: { target: string }) => object }
    | undefined
}

function standardPropsOf(schema: AnySchema): StandardProps | undefined {
  const props: unknown = Reflect.get(schema, '~standard')
  // Standard Schema reserves this key and defines its value. The members are checked before use.
  return typeof props === 'object' && props !== null ? (props as StandardProps) : undefined
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
  const reason = schemaOptions.rules.findProblem(jsonSchema)
  if (reason !== undefined) throw unusableSchemaError(schemaOptions, reason)
  return jsonSchema
}

function compileCheck(jsonSchema: JsonObject, schemaOptions: SchemaCompilationSettings): CompiledSchema['check'] {
  const validate = schemaOptions.rules.createValidator(jsonSchema, schemaOptions.errorSubject)
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

export function jsonPointerOf(path: NonNullable<StandardSchemaV1.Issue['path']>): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment))
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

const maxShownBranchMessages = 8

const maxBranchIssues = 100

/** Says what a union expects. Zod's message says only that no branch matched, and each branch has its own issues. */
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

// limit: `maxArgumentElements` | count | values and members in the arguments of a tool or prompt | an error before the
//   schema is applied
const defaultMaxElements = 10_000

/** A validator that cannot be stopped after its first issues gets no value that could have more issues than this. */
const maxPossibleIssues = 10_000

/**
 * With at most this many possible issues, a value goes to the validator directly, because producing all of them costs
 * little.
 */
const maxIssuesWithoutFinder = 200

type Check = (value: unknown) => Awaitable<CheckedValue>

/**
 * Bounds a check, so that rejecting a value is never expensive. If a validator lists every fault, a value full of
 * faults takes thousands of times longer than a valid value of the same size (CVE-2026-111768).
 *
 * A value with few elements goes directly to the validator.
 */
function createBoundedCheck(
  check: Check,
  createFinder: IssueFinderFactory,
  { maxElements, maxMissingMembers }: Pick<ElementCounter, 'maxElements' | 'maxMissingMembers'>,
): Check {
  let knownFinder: ZodIssueFinder | undefined
  const checkWithFinder = (value: unknown, finder: ZodIssueFinder, issueCount: number): Awaitable<CheckedValue> => {
    knownFinder = finder
    const issues = finder.find(value, maxShownIssues)
    if (issues.length > 0) return toRejectedValue(issues)
    if (!finder.isComplete && issueCount > maxPossibleIssues)
      return rejectElements(`more than ${maxPossibleIssues} possible faults; send fewer elements`)
    return check(value)
  }
  return (value) => {
    const counter: ElementCounter = { elementCount: 0, issueCount: 0, maxElements, maxMissingMembers }
    countElements(value, counter)
    if (counter.elementCount > maxElements) return rejectElements(`more than ${maxElements} elements; send fewer`)
    if (counter.issueCount <= maxIssuesWithoutFinder) return check(value)
    return mapAwaitable(knownFinder ?? createFinder(), (finder) => checkWithFinder(value, finder, counter.issueCount))
  }
}

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
  issueCount: number
  readonly maxElements: number
  readonly maxMissingMembers: number
}

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
  // No list of the members: this runs for every call, and most calls are small.
  for (const key in value) {
    memberCount++
    if (++counter.elementCount > counter.maxElements) return
    // The cast is safe: every member of an object can be read as unknown.
    const member: unknown = (value as Readonly<Record<string, unknown>>)[key]
    if (typeof member === 'object') countElements(member, counter)
  }
  counter.issueCount += Math.max(memberCount, counter.maxMissingMembers)
}

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
  // Set to 0 first, so that a schema that refers to itself does not recurse forever.
  requiredCounts.set(schema, 0)
  const { required, anyOf, oneOf, allOf } = schema
  let requiredCount = Array.isArray(required) ? required.length : 0
  for (const branches of [anyOf, oneOf, allOf, [resolveReference(schema, root) ?? null]]) {
    for (const branch of Array.isArray(branches) ? branches : []) {
      if (isJsonObject(branch)) requiredCount += countRequiredMembers(branch, root, requiredCounts)
    }
  }
  requiredCounts.set(schema, requiredCount)
  return requiredCount
}
