import type { StandardSchemaV1, StandardTypedV1 } from '@standard-schema/spec'
import { checkSchema, type JsonObject, type JsonSchemaCompiler, type JsonValue, type SchemaIssue } from '@x/schema'
import { compileJsonSchema } from '@x/schema/json-schema'
import { after, type Awaitable } from '../request/awaitable.ts'
import { DefinitionError } from '../request/definition-error.ts'
import { boundedCheck, defaultMaxElements } from './bounded-check.ts'
import { frozenObject } from './frozen-json.ts'
import { type CheckedValue, maxShownIssues, type RejectedValue, rejected } from './issues.ts'
import { type FirstIssues, zodIssues } from './zod-issues.ts'

/**
 * A description of arguments or results: a schema of a library that implements Standard Schema and Standard JSON Schema
 * (zod 4, ArkType, valibot through `toStandardJsonSchema`), or JSON Schema itself.
 */
export type AnySchema = StandardTypedV1 | JsonObject

/** The type that a handler receives for an accepted value; `undefined` without a schema. */
export type ParsedBy<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferOutput<S>
  : S extends undefined
    ? { readonly [name: string]: never }
    : JsonObject

/** The type of the values that a schema accepts. */
export type AcceptedBy<S> = S extends StandardTypedV1 ? StandardTypedV1.InferInput<S> : unknown

/** The type of the values that a caller writes: the input side of the schema, `undefined` without one. */
export type SchemaWithInput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferInput<S>
  : S extends undefined
    ? undefined
    : JsonObject

/** The type of the values that a caller reads: the output side of the schema, `undefined` without one. */
export type SchemaInput<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferOutput<S>
  : S extends undefined
    ? undefined
    : JsonValue

/** A schema that is ready to be used, and to be shown to clients. */
export interface CompiledSchema {
  readonly json: JsonObject
  readonly check: (value: unknown) => Awaitable<CheckedValue>
}

/** The definition that a schema belongs to, and the compiler to use. */
export interface SchemaUse {
  /** Such as `tool "greet", input`. */
  readonly subject: string
  /** A schema that transforms has two sides: clients write its input, and read its output. */
  readonly side: 'input' | 'output'
  readonly compile: JsonSchemaCompiler
  /**
   * The values in arrays and members of objects that a value may have; 10,000 when absent. The output side has no
   * bound.
   */
  readonly maxElements?: number | undefined
}

/**
 * Makes a schema ready, once. Throws {@link DefinitionError} for one that gives no JSON Schema, or one that must not
 * be used (basic/index, JSON Schema usage): a client is never shown an empty schema in its place.
 */
export function compileSchema(schema: AnySchema, use: SchemaUse): CompiledSchema {
  const standard = standardOf(schema)
  if (standard === undefined) {
    const json = acceptedSchema(frozenObject(schema, use.subject), use)
    // The default validator stops at ten issues; of another one nothing is known.
    const stopsEarly = use.compile === compileJsonSchema
    return { json, check: boundedCheckOf(compiledCheck(json, use), { json, use, stopsEarly }) }
  }
  if (typeof standard.validate !== 'function') {
    throw unusableSchema(use, `the schema of ${standard.vendor} cannot validate; it must implement Standard Schema`)
  }
  const json = acceptedSchema(toJsonSchema(standard, use), use)
  const first = standard.vendor === 'zod' && use.side === 'input' ? zodIssues(schema) : undefined
  const stopsEarly = first?.complete === true
  return { json, check: boundedCheckOf(standardCheck(standard.validate), { json, use, stopsEarly, first }) }
}

interface BoundOptions {
  readonly json: JsonObject
  readonly use: SchemaUse
  readonly stopsEarly: boolean
  readonly first?: FirstIssues | undefined
}

/** Bounds what comes from a peer; what handlers return is their author's. */
function boundedCheckOf(
  check: CompiledSchema['check'],
  { json, use, stopsEarly, first }: BoundOptions,
): CompiledSchema['check'] {
  if (use.side === 'output') return check
  const { maxElements = defaultMaxElements } = use
  const findFirst = (value: unknown): RejectedValue | undefined => {
    const issues = first?.find(value, maxShownIssues) ?? []
    if (issues.length === 0) return undefined
    return { issues: issues.map(plainIssue), ...(issues.length === maxShownIssues && { total: Infinity }) }
  }
  return boundedCheck(check, { maxElements, json, findFirst, stopsEarly })
}

/** The part of a schema that the two standards define; both parts are optional until they were looked for. */
interface StandardParts {
  readonly vendor: string
  readonly validate?: StandardSchemaV1['~standard']['validate'] | undefined
  readonly jsonSchema?: { readonly [Side in SchemaUse['side']]?: (options: { target: string }) => object } | undefined
}

function standardOf(schema: AnySchema): StandardParts | undefined {
  const holder: object = schema
  if (!('~standard' in holder) || typeof holder['~standard'] !== 'object' || holder['~standard'] === null)
    return undefined
  // The key is reserved by Standard Schema, which fixes what stands under it; the parts are looked for before use.
  return holder['~standard'] as StandardParts
}

function toJsonSchema(standard: StandardParts, use: SchemaUse): JsonObject {
  const convert = standard.jsonSchema?.[use.side]
  if (convert === undefined) {
    const advice =
      'use a library that implements Standard JSON Schema (zod 4.2 or later; valibot with toStandardJsonSchema() ' +
      'of @valibot/to-json-schema), or give JSON Schema'
    throw unusableSchema(use, `the schema of ${standard.vendor} has no JSON Schema to show to clients; ${advice}`)
  }
  try {
    return frozenObject(convert({ target: 'draft-2020-12' }), use.subject)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'its conversion failed'
    const advice =
      'describe its JSON form and transform that, as in z.iso.datetime().transform((text) => new Date(text))'
    const reason = `the schema of ${standard.vendor} cannot be shown as JSON Schema: ${why}; ${advice}`
    throw new DefinitionError('schema', use.subject, { reason, cause })
  }
}

function acceptedSchema(json: JsonObject, use: SchemaUse): JsonObject {
  const reason = checkSchema(json)
  if (reason !== undefined) throw unusableSchema(use, reason)
  return json
}

function compiledCheck(json: JsonObject, use: SchemaUse): CompiledSchema['check'] {
  try {
    const issuesOf = use.compile(json)
    return (value) => {
      const issues = issuesOf(value)
      return issues.length === 0 ? { value } : rejected(issues, (issue) => issue)
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'it does not compile'
    throw new DefinitionError('schema', use.subject, { reason: `the JSON Schema cannot be used: ${why}`, cause })
  }
}

function standardCheck(validate: StandardSchemaV1['~standard']['validate']): CompiledSchema['check'] {
  return (value) => after(validate(value), (result) => (result.issues ? rejected(result.issues, plainIssue) : result))
}

function plainIssue(issue: StandardSchemaV1.Issue): SchemaIssue {
  return { path: pointer(issue.path ?? []), message: issue.message + unionBranches(issue) }
}

/** A path as a JSON Pointer, which is what the path of an issue is. */
function pointer(path: NonNullable<StandardSchemaV1.Issue['path']>): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment))
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The messages of alternatives that are repeated. */
const maxBranches = 8

/** The issues of alternatives that are looked through for them. */
const maxBranchIssues = 100

/** zod says of a union only that nothing fitted; what was expected stands in a list of issues per branch. */
function unionBranches(issue: StandardSchemaV1.Issue): string {
  if (!('errors' in issue) || !Array.isArray(issue.errors)) return ''
  const wanted = new Set<string>()
  for (const branch of issue.errors.slice(0, maxBranchIssues)) {
    const inner: unknown[] = Array.isArray(branch) ? branch.slice(0, maxBranchIssues) : [branch]
    for (const message of inner.map(issueMessage)) if (message !== undefined) wanted.add(message)
    if (wanted.size >= maxBranches) break
  }
  return wanted.size === 0 ? '' : ` (${[...wanted].slice(0, maxBranches).join('; or ')})`
}

function issueMessage(issue: unknown): string | undefined {
  const named = typeof issue === 'object' && issue !== null && 'message' in issue
  return named && typeof issue.message === 'string' ? issue.message : undefined
}

function unusableSchema({ subject }: SchemaUse, reason: string): DefinitionError {
  return new DefinitionError('schema', subject, { reason })
}
