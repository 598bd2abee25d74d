import type { StandardSchemaV1, StandardTypedV1 } from '@standard-schema/spec'
import { admitSchema, type JsonObject, type JsonSchemaCompiler, type SchemaIssue } from '@x/schema'
import { after, type Awaitable } from '../request/awaitable.ts'
import { DefinitionError } from '../definition-error.ts'
import { frozenObject } from './frozen-json.ts'

/**
 * What describes arguments or results: a schema of a library that keeps to Standard Schema and Standard JSON Schema
 * (zod 4, ArkType, valibot through `toStandardJsonSchema`), or JSON Schema itself.
 */
export type AnySchema = StandardTypedV1 | JsonObject

/** What a handler is given of a value that the schema accepted; without a schema, nothing. */
export type ParsedBy<S> = S extends StandardTypedV1
  ? StandardTypedV1.InferOutput<S>
  : S extends undefined
    ? { readonly [name: string]: never }
    : JsonObject

/** What a schema accepts. */
export type AcceptedBy<S> = S extends StandardTypedV1 ? StandardTypedV1.InferInput<S> : unknown

/** A value as its schema left it, or why it was refused. */
export type Checked =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** A schema that is ready to be used, and to be shown to clients. */
export interface CompiledSchema {
  readonly json: JsonObject
  readonly check: (value: unknown) => Awaitable<Checked>
}

/** Which schema of which definition is compiled, and with what. */
export interface SchemaUse {
  /** Such as `tool "greet", input`. */
  readonly subject: string
  /** A schema that transforms has two sides: clients write its input, and read its output. */
  readonly side: 'input' | 'output'
  readonly compile: JsonSchemaCompiler
}

/**
 * Makes a schema ready, once. Throws {@link DefinitionError} for one that gives no JSON Schema, or one that must not
 * be used (basic/index, JSON Schema usage): a client is never shown an empty schema in its place.
 */
export function compileSchema(schema: AnySchema, use: SchemaUse): CompiledSchema {
  const standard = standardOf(schema)
  if (standard === undefined) {
    const json = admitted(frozenObject(schema, use.subject), use)
    return { json, check: compiledCheck(json, use) }
  }
  if (typeof standard.validate !== 'function') {
    throw refused(use, `the schema of ${standard.vendor} cannot validate; it must implement Standard Schema`)
  }
  return { json: admitted(jsonOf(standard, use), use), check: standardCheck(standard.validate) }
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

function jsonOf(standard: StandardParts, use: SchemaUse): JsonObject {
  const convert = standard.jsonSchema?.[use.side]
  if (convert === undefined) {
    const advice =
      'use a library that implements Standard JSON Schema (zod 4.2 or later; valibot with toStandardJsonSchema() ' +
      'of @valibot/to-json-schema), or give JSON Schema'
    throw refused(use, `the schema of ${standard.vendor} has no JSON Schema to show to clients; ${advice}`)
  }
  try {
    return frozenObject(convert({ target: 'draft-2020-12' }), use.subject)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'its conversion failed'
    const reason = `the schema of ${standard.vendor} cannot be shown as JSON Schema: ${why}`
    throw new DefinitionError('schema', use.subject, { reason, cause })
  }
}

function admitted(json: JsonObject, use: SchemaUse): JsonObject {
  const reason = admitSchema(json)
  if (reason !== undefined) throw refused(use, reason)
  return json
}

function compiledCheck(json: JsonObject, use: SchemaUse): CompiledSchema['check'] {
  try {
    const issuesOf = use.compile(json)
    return (value) => {
      const issues = issuesOf(value)
      return issues.length === 0 ? { value } : { issues }
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'it does not compile'
    throw new DefinitionError('schema', use.subject, { reason: `the JSON Schema cannot be used: ${why}`, cause })
  }
}

function standardCheck(validate: StandardSchemaV1['~standard']['validate']): CompiledSchema['check'] {
  return (value) =>
    after(validate(value), (result) => (result.issues ? { issues: result.issues.map(plainIssue) } : result))
}

function plainIssue(issue: StandardSchemaV1.Issue): SchemaIssue {
  return { path: pointer(issue.path ?? []), message: issue.message + branches(issue) }
}

/** A path as a JSON Pointer, which is what the path of an issue is. */
function pointer(path: NonNullable<StandardSchemaV1.Issue['path']>): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment))
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** zod says of a union only that nothing fitted; what was expected stands in a list of issues per branch. */
function branches(issue: StandardSchemaV1.Issue): string {
  if (!('errors' in issue) || !Array.isArray(issue.errors)) return ''
  const wanted = issue.errors.flat().flatMap((inner: unknown) => {
    const named = typeof inner === 'object' && inner !== null && 'message' in inner
    return named && typeof inner.message === 'string' ? [inner.message] : []
  })
  return wanted.length === 0 ? '' : ` (${[...new Set(wanted)].slice(0, 8).join('; or ')})`
}

function refused({ subject }: SchemaUse, reason: string): DefinitionError {
  return new DefinitionError('schema', subject, { reason })
}
