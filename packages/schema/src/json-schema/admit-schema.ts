import type { JsonObject, JsonValue } from '../basic/json.ts'
import { isJsonObject } from '../basic/json.ts'
import { malformedKeyword } from './schema-keywords.ts'
import { flawOfReferences } from './schema-references.ts'
import { defaultSchemaBounds, type SchemaBounds, type Subschema, subschemas } from './subschemas.ts'

/** The dialects of JSON Schema that are understood; a schema that names none is of the first. */
export const schemaDialects = {
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
  'http://json-schema.org/draft-07/schema': '7',
} as const

/** A dialect of JSON Schema by its short name. */
export type SchemaDialect = (typeof schemaDialects)[keyof typeof schemaDialects]

/** The dialect that a schema names, the default when it names none, `undefined` when it is not known here. */
export function dialectOf(schema: JsonObject): SchemaDialect | undefined {
  const { $schema } = schema
  if ($schema === undefined) return '2020-12'
  return typeof $schema === 'string' ? dialects.get($schema.replace(/#$/, '')) : undefined
}

/**
 * Why a JSON Schema from outside is refused, or `undefined` when it may be used (basic/index, JSON Schema usage). A schema
 * is refused for an unknown dialect, a keyword whose value has the wrong form, a reference that leaves the schema or leads
 * nowhere, references that go round without descending into the value, and for its size.
 */
export function admitSchema(schema: JsonObject, bounds: SchemaBounds = defaultSchemaBounds): string | undefined {
  if (dialectOf(schema) === undefined) return unknownDialect(schema['$schema'])
  const found = subschemas(schema, bounds)
  if (typeof found === 'string') return found
  for (const subschema of found) {
    const flaw = flawOf(subschema, schema, bounds)
    if (flaw !== undefined) return `${flaw} (at ${subschema.pointer === '' ? 'the root' : subschema.pointer})`
  }
  return flawOfReferences(found)
}

const dialects: ReadonlyMap<string, SchemaDialect> = new Map(Object.entries(schemaDialects))

function unknownDialect(named: JsonValue | undefined): string {
  const name = JSON.stringify(named)?.slice(0, 200)
  return `its dialect ${name} is not supported; supported are ${[...dialects.keys()].join(' and ')}`
}

function flawOf({ schema, parent }: Subschema, root: JsonObject, bounds: SchemaBounds): string | undefined {
  if (parent !== undefined && Object.hasOwn(schema, '$schema') && dialectOf(schema) !== dialectOf(root)) {
    return 'a part of it is of another dialect'
  }
  return malformedKeyword(schema) ?? flawOfPatterns(schema, bounds)
}

function flawOfPatterns(schema: JsonObject, { patternLength }: SchemaBounds): string | undefined {
  for (const pattern of patternsOf(schema)) {
    if (pattern.length > patternLength) return `a pattern is longer than ${patternLength} characters`
    if (!isRegExp(pattern)) return 'a pattern is not a regular expression'
  }
  return undefined
}

function patternsOf({ pattern, patternProperties }: JsonObject): string[] {
  const patterns = isJsonObject(patternProperties) ? Object.keys(patternProperties) : []
  return typeof pattern === 'string' ? [...patterns, pattern] : patterns
}

function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false
  }
}
