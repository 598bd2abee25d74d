import type { JsonObject } from '@x/core'
import type { Subschema } from './subschemas.ts'

type MutableSchema = { [keyword: string]: unknown }

/**
 * Removes `pattern` and `patternProperties` from the schemas of a peer: a backtracking engine could run a pattern of
 * the peer for years on one text of the peer. Changes the given schemas, which must be the caller's own copy.
 *
 * A schema without its patterns accepts more values. Where that would make an enclosing keyword reject a valid value,
 * as `not` does, the enclosing keyword is removed or relaxed too. A value that the whole schema accepts is therefore
 * never rejected.
 */
export function ignorePatterns(allSubschemas: readonly Subschema[]): void {
  const relaxedSchemas = findRelaxedSchemas(allSubschemas)
  for (const { schema } of allSubschemas) {
    // The copy belongs to the caller, which compiles it afterwards.
    if (relaxedSchemas.has(schema)) relaxSchema(schema as MutableSchema, relaxedSchemas)
  }
}

/**
 * Returns the schemas that accept more values without patterns: those with a pattern, those that contain one, and,
 * where any schema has a pattern, those with a reference, which may lead to it.
 */
function findRelaxedSchemas(allSubschemas: readonly Subschema[]): ReadonlySet<unknown> {
  const relaxedSchemas = new Set<unknown>()
  if (!allSubschemas.some(({ schema }) => hasPattern(schema))) return relaxedSchemas
  // The list has a parent before its children, so that backwards each child marks its parent in time.
  for (const { schema, parent } of allSubschemas.toReversed()) {
    if (hasPattern(schema) || schema['$ref'] !== undefined) relaxedSchemas.add(schema)
    if (parent !== undefined && relaxedSchemas.has(schema)) relaxedSchemas.add(parent.schema)
  }
  return relaxedSchemas
}

function hasPattern({ pattern, patternProperties }: JsonObject): boolean {
  return pattern !== undefined || patternProperties !== undefined
}

function relaxSchema(schema: MutableSchema, relaxedSchemas: ReadonlySet<unknown>): void {
  // A property that only a pattern names would count as additional.
  if (schema['patternProperties'] !== undefined) delete schema['additionalProperties']
  for (const keyword of ['pattern', 'patternProperties', 'unevaluatedProperties', 'unevaluatedItems']) {
    delete schema[keyword]
  }
  if (relaxedSchemas.has(schema['not'])) delete schema['not']
  if (relaxedSchemas.has(schema['contains'])) delete schema['maxContains']
  // Validators evaluate a conditional branch only beside an `if`.
  if (relaxedSchemas.has(schema['if'])) delete schema['if']
  const { oneOf } = schema
  if (!Array.isArray(oneOf) || !oneOf.some((branch) => relaxedSchemas.has(branch))) return
  delete schema['oneOf']
  schema['allOf'] = [...(Array.isArray(schema['allOf']) ? schema['allOf'] : []), { anyOf: oneOf }]
}
