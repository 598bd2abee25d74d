import { quoteText } from '@x/core'
import type { JsonObject, JsonValue } from '@x/core'
import { patternsOf } from './model-rules.ts'
import { findMalformedKeyword } from './schema-keywords.ts'
import { findReferenceProblem } from './schema-references.ts'
import { collectSubschemas, schemaBounds, type Subschema } from './subschemas.ts'

/** Supported dialects of JSON Schema, by their URIs. */
export const schemaDialects = {
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
  'http://json-schema.org/draft-07/schema': '7',
} as const

export type SchemaDialect = (typeof schemaDialects)[keyof typeof schemaDialects]

/** 2020-12 without `$schema`. Undefined for an unsupported dialect. */
export function dialectOf(schema: JsonObject): SchemaDialect | undefined {
  const { $schema } = schema
  if ($schema === undefined) return '2020-12'
  return typeof $schema === 'string' ? dialects.get($schema.replace(/#$/, '')) : undefined
}

/**
 * Says why an untrusted JSON Schema is rejected, or `undefined` if it is acceptable (basic/index, JSON Schema usage):
 * unknown dialects, malformed keywords, schemas that are too large, references that leave the schema, and cycles of
 * references that never descend into the value.
 */
export function findSchemaProblem(schema: JsonObject): string | undefined {
  if (dialectOf(schema) === undefined) return unknownDialectProblem(schema['$schema'])
  const subschemasOrProblem = collectSubschemas(schema)
  if (typeof subschemasOrProblem === 'string') return subschemasOrProblem
  for (const subschema of subschemasOrProblem) {
    const problem = findSubschemaProblem(subschema, schema)
    if (problem !== undefined) return `${problem} (at ${subschema.pointer === '' ? 'the root' : subschema.pointer})`
  }
  return findReferenceProblem(subschemasOrProblem)
}

const dialects: ReadonlyMap<string, SchemaDialect> = new Map(Object.entries(schemaDialects))

function unknownDialectProblem(dialectUri: JsonValue | undefined): string {
  const name = quoteText(dialectUri)
  return `its dialect ${name} is not supported; supported are ${[...dialects.keys()].join(' and ')}`
}

function findSubschemaProblem({ schema, parent }: Subschema, root: JsonObject): string | undefined {
  if (parent !== undefined && Object.hasOwn(schema, '$schema') && dialectOf(schema) !== dialectOf(root)) {
    return 'a part of it is of another dialect'
  }
  return findMalformedKeyword(schema) ?? findPatternsProblem(schema)
}

function findPatternsProblem(schema: JsonObject): string | undefined {
  const { patternLength } = schemaBounds
  for (const pattern of patternsOf(schema)) {
    if (pattern.length > patternLength) return `a pattern is longer than ${patternLength} characters`
    if (!isValidPattern(pattern)) return 'a pattern is not a regular expression'
  }
  return undefined
}

function isValidPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** What is wrong with a value. */
export interface SchemaIssue {
  /** JSON Pointer to the invalid part, empty for the whole value. */
  readonly path: string
  readonly message: string
}

/**
 * Compiles a JSON Schema, as `compileJsonSchema` of `@x/schema/json-schema` does. Throws when the schema itself is
 * invalid. The compiled function returns the issues of a value, and an empty array for a valid one.
 */
export type JsonSchemaCompiler = (schema: JsonObject) => (value: unknown) => readonly SchemaIssue[]
