import type { StandardSchemaV1, StandardTypedV1 } from '@standard-schema/spec'
import {
  findSchemaProblem,
  type JsonObject,
  type JsonSchemaCompiler,
  type JsonValue,
  type SchemaIssue,
  isJsonObject,
} from '@x/schema'
import { compileTrustedJsonSchema } from '@x/schema/json-schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { DefinitionError } from '../request/definition-error.ts'
import { freezeJsonObject } from '../request/json-copy.ts'
import { createZodIssueFinder, isZodSchema, type ZodIssueFinder, type ZodSchema } from './zod-issues.ts'
import { createInterpretedValidator } from './zod-key.ts'

/**
 * A description of arguments or results: a schema of a library that implements Standard Schema and Standard JSON Schema
 * (zod 4, ArkType, valibot through `toStandardJsonSchema`), or JSON Schema itself.
 */
export type AnySchema = StandardTypedV1 | JsonObject

/** The type that a handler receives for an accepted value. `undefined` without a schema. */
export type SchemaOutput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferOutput<S>
  : S extends undefined
    ? { readonly [name: string]: never }
    : JsonObject

/** The type of the values that a schema accepts. */
export type SchemaInput<S> = S extends StandardTypedV1 ? StandardTypedV1.InferInput<S> : unknown

/** The type of the values that a caller writes: the input side of the schema, `undefined` without one. */
export type CallerInput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferInput<S>
  : S extends undefined
    ? undefined
    : JsonObject

/** The type of the arguments that a caller of a prompt writes: each is a string (server/prompts, getting a prompt). */
export type PromptArguments<S> = S extends StandardTypedV1
  ? TextArguments<StandardTypedV1.InferInput<S>>
  : S extends undefined
    ? undefined
    : JsonObject

/** Has a string for each argument that the schema turns into something else, such as that of `z.coerce.number()`. */
export type TextArguments<Input> = {
  [Name in keyof Input]: Input[Name] extends string | undefined ? Input[Name] : string
}

/** The type of the values that a caller reads: the output side of the schema, `undefined` without one. */
export type CallerOutput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferOutput<S>
  : S extends undefined
    ? undefined
    : JsonValue

/** A schema that is ready to be used, and to be shown to clients. */
export interface CompiledSchema {
  readonly jsonSchema: JsonObject
  readonly check: (value: unknown) => Awaitable<CheckedValue>
  /**
   * Returns the check of another schema of zod that has the same JSON Schema. It is for a schema that is used once: zod
   * interprets it instead of compiling it.
   */
  readonly createCheckFor?: ((schema: ZodSchema) => CompiledSchema['check']) | undefined
}

/** The definition that a schema belongs to, and the compiler to use. */
interface SchemaCompilationSettings {
  /** Such as `tool "greet", input`. */
  readonly errorSubject: string
  /** A schema that transforms has two sides: clients write its input, and read its output. */
  readonly side: 'input' | 'output'
  readonly compile: JsonSchemaCompiler
  /**
   * The values in arrays and members of objects that a value may have. Default: 10,000. The output side has no
   * bound.
   */
  readonly maxElements?: number | undefined
}

/**
 * Makes a schema ready, once. Throws {@link DefinitionError} for one that gives no JSON Schema, or one that must not
 * be used (basic/index, JSON Schema usage): a client is never shown an empty schema in its place.
 */
export function compileSchema(schema: AnySchema, schemaOptions: SchemaCompilationSettings): CompiledSchema {
  const standardProps = standardPropsOf(schema)
  if (standardProps === undefined) {
    rejectSchemaMap(schema, schemaOptions)
    const jsonSchema = requireValidSchema(freezeJsonObject(schema, schemaOptions.errorSubject), schemaOptions)
    // The default validator stops at ten issues. Of another one nothing is known.
    const addBounds = createBoundedCheckFactory(jsonSchema, schemaOptions)
    const finder = { ...emptyFinder, isComplete: schemaOptions.compile === compileTrustedJsonSchema }
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

/** Rejects an object of schemas: other libraries take one, and as JSON Schema it would mean nothing. */
function rejectSchemaMap(schema: AnySchema, schemaOptions: SchemaCompilationSettings): void {
  for (const [name, member] of Object.entries(schema)) {
    if (typeof member !== 'object' || member === null || !('~standard' in member)) continue
    const reason = `it is an object with the schema of ${JSON.stringify(name)}; write one schema, as in z.object({ … })`
    throw unusableSchemaError(schemaOptions, reason)
  }
}

type IssueFinderFactory = () => ZodIssueFinder | undefined

/** Bounds what comes from a peer. What handlers return is their author's. */
function createBoundedCheckFactory(
  jsonSchema: JsonObject,
  { side, maxElements = defaultMaxElements }: SchemaCompilationSettings,
): (check: Check, createFinder: IssueFinderFactory) => Check {
  if (side === 'output') return (check) => check
  const maxMissingMembers = computeMaxMissingMembers(jsonSchema)
  return (check, createFinder) => createBoundedCheck(check, { maxElements, maxMissingMembers, createFinder })
}

/** The part of a schema that the two standards define. Both parts are optional until they were looked for. */
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
  // The key is reserved by Standard Schema, which fixes its value. The parts are looked for before use.
  return schemaObject['~standard'] as StandardProps
}

function toJsonSchema(standardProps: StandardProps, schemaOptions: SchemaCompilationSettings): JsonObject {
  const convert = standardProps.jsonSchema?.[schemaOptions.side]
  if (convert === undefined) {
    const advice =
      'use a library that implements Standard JSON Schema (zod 4.2 or later; valibot with toStandardJsonSchema() ' +
      'of @valibot/to-json-schema), or give JSON Schema'
    throw unusableSchemaError(
      schemaOptions,
      `the schema of ${standardProps.vendor} has no JSON Schema to show to clients; ${advice}`,
    )
  }
  try {
    return freezeJsonObject(convert({ target: 'draft-2020-12' }), schemaOptions.errorSubject)
  } catch (cause) {
    const causeMessage = cause instanceof Error ? cause.message : 'its conversion failed'
    const advice =
      'describe its JSON form and transform that, as in z.iso.datetime().transform((text) => new Date(text))'
    const reason = `the schema of ${standardProps.vendor} cannot be shown as JSON Schema: ${causeMessage}; ${advice}`
    throw new DefinitionError('schema', schemaOptions.errorSubject, { reason, cause })
  }
}

function requireValidSchema(jsonSchema: JsonObject, schemaOptions: SchemaCompilationSettings): JsonObject {
  const reason = findSchemaProblem(jsonSchema)
  if (reason !== undefined) throw unusableSchemaError(schemaOptions, reason)
  return jsonSchema
}

function compileCheck(jsonSchema: JsonObject, schemaOptions: SchemaCompilationSettings): CompiledSchema['check'] {
  try {
    const findIssues = schemaOptions.compile(jsonSchema)
    return (value) => {
      const issues = findIssues(value)
      return issues.length === 0 ? { value } : createRejectedValue(issues, (issue) => issue)
    }
  } catch (cause) {
    const causeMessage = cause instanceof Error ? cause.message : 'it does not compile'
    throw new DefinitionError('schema', schemaOptions.errorSubject, {
      reason: `the JSON Schema cannot be used: ${causeMessage}`,
      cause,
    })
  }
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

/** A path as a JSON Pointer, which is what the path of an issue is. */
function jsonPointerOf(path: NonNullable<StandardSchemaV1.Issue['path']>): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment))
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The maximum number of messages of union branches in a description. */
const maxShownBranchMessages = 8

/** The maximum number of issues of union branches that are searched for messages. */
const maxBranchIssues = 100

/** zod says of a union only that nothing fitted. The expected values are in a list of issues per branch. */
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

/** The elements that the arguments of one call may have by default. */
const defaultMaxElements = 10_000

/** The issues that a validator may be made to produce where it cannot be stopped at the first ones. */
const maxPossibleIssues = 10_000

/** The number of possible issues up to which a validator runs at once: producing them all costs little. */
const maxIssuesWithoutFinder = 200

type Check = (value: unknown) => Awaitable<CheckedValue>

/** A schema's check, and what bounds its cost. */
interface CheckBounds {
  /** The values in arrays and members of objects that are accepted. */
  readonly maxElements: number
  /** The most members that one object can lack. */
  readonly maxMissingMembers: number
  /** Makes the search for the first issues of a value. Called once, for the first value with many. */
  readonly createFinder: IssueFinderFactory
}

/**
 * Bounds the cost of rejecting a value. A validator that lists every fault takes thousands of times longer for a value
 * that is nothing but faults than for a valid one of the same size (CVE-2026-111768).
 *
 * A value with few elements goes straight to the validator.
 */
function createBoundedCheck(check: Check, { maxElements, maxMissingMembers, createFinder }: CheckBounds): Check {
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

/** Finds nothing: what the validator may find is unknown. */
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
   * The most issues that a validator could find: one for each element, and one for each required member that is
   * missing.
   */
  issueCount: number
  readonly maxElements: number
  readonly maxMissingMembers: number
}

/** Counts the elements of a value, and stops past the bound. */
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
  // No list of the members is made: nearly every call is small, and passes here.
  for (const key in value) {
    memberCount++
    if (++counter.elementCount > counter.maxElements) return
    // Any object may be asked for its own members.
    const member: unknown = (value as Readonly<Record<string, unknown>>)[key]
    if (typeof member === 'object') countElements(member, counter)
  }
  counter.issueCount += Math.max(memberCount, counter.maxMissingMembers)
}

/** The most members that one object can lack: those that a schema requires, over all of its alternatives. */
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
  // Set while the schema is counted, so that a reference to itself ends.
  requiredCounts.set(schema, 0)
  const { required, anyOf, oneOf, allOf, $ref } = schema
  let requiredCount = Array.isArray(required) ? required.length : 0
  for (const branches of [anyOf, oneOf, allOf, typeof $ref === 'string' ? [resolveReference($ref, root)] : []]) {
    for (const branch of Array.isArray(branches) ? branches : []) {
      if (isJsonObject(branch)) requiredCount += countRequiredMembers(branch, root, requiredCounts)
    }
  }
  requiredCounts.set(schema, requiredCount)
  return requiredCount
}

/** The part of a schema that a local reference names. */
function resolveReference(reference: string, root: JsonObject): JsonValue | undefined {
  let resolvedValue: JsonValue | undefined = root
  for (const segment of reference.split('/').slice(1)) {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~')
    resolvedValue = isJsonObject(resolvedValue) && Object.hasOwn(resolvedValue, key) ? resolvedValue[key] : undefined
  }
  return resolvedValue
}

/** The issues that are copied and written of one value: a model can act on a few faults at a time. */
const maxShownIssues = 20

/** The faults of a rejected value. */
export interface RejectedValue {
  /** At most 20. */
  readonly issues: readonly SchemaIssue[]
  /**
   * The number of all faults; absent where {@link issues} has all of them. `Infinity` where the search ended early.
   */
  readonly total?: number | undefined
}

/** A value as its schema left it, or its faults. */
export type CheckedValue = { readonly value: unknown; readonly issues?: undefined } | RejectedValue

/** Copies the first issues of a validator, in the form of {@link SchemaIssue}. The others are counted. */
function createRejectedValue<Issue>(
  issues: readonly Issue[],
  toSchemaIssue: (issue: Issue) => SchemaIssue,
): RejectedValue {
  if (issues.length <= maxShownIssues) return { issues: issues.map(toSchemaIssue) }
  return { issues: issues.slice(0, maxShownIssues).map(toSchemaIssue), total: issues.length }
}

/** Writes the faults of a value, one a line with its path, for a model or a person to read. */
export function formatIssues({ issues, total = issues.length }: RejectedValue): string {
  const lines = issues.map(({ path, message }) => `- ${formatPointer(path)}: ${message}`)
  if (total > issues.length) lines.push(total === Infinity ? '- and more' : `- and ${total - issues.length} more`)
  return lines.join('\n')
}

/** Writes a JSON Pointer in the form that people use: `/items/0/name` as `items.0.name`. */
function formatPointer(pointer: string): string {
  if (pointer === '') return '(the whole)'
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
}
