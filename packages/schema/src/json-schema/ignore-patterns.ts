import type { JsonObject } from '@x/core'
import type { Subschema } from './subschemas.ts'

type MutableSchema = { [keyword: string]: unknown }

/**
 * Removes `pattern` and `patternProperties` from the schemas of a peer. A backtracking engine could run a pattern for
 * years on a text that the peer chose. Changes the given schemas, so that the caller must pass its own copy.
 *
 * A schema without its patterns accepts more values. Where that would make an enclosing keyword reject a valid value,
 * as `not` does, the enclosing keyword is removed or relaxed too. A value that the whole schema accepts is therefore
 * never rejected.
 */
export function ignorePatterns(allSubschemas: readonly Subschema[]): void {
  const relaxedSchemas = findRelaxedSchemas(allSubschemas)
  for (const { schema } of allSubschemas) {
    // The cast is safe: the caller passes its own copy.
    if (relaxedSchemas.has(schema)) relaxSchema(schema as MutableSchema, relaxedSchemas)
  }
}

/**
 * Returns the schemas that accept more values without patterns. These are the schemas with a pattern, and the schemas
 * that contain such a schema. If any schema has a pattern, they include every schema with a reference, because the
 * reference may lead to the pattern.
 */
function findRelaxedSchemas(allSubschemas: readonly Subschema[]): ReadonlySet<unknown> {
  const relaxedSchemas = new Set<unknown>()
  if (!allSubschemas.some(({ schema }) => hasPattern(schema))) return relaxedSchemas
  // The list has each parent before its children. In reverse order, every child has marked its parent before the parent
  // is visited.
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
  // Without `patternProperties`, a property that matches only a pattern would count as additional.
  if (schema['patternProperties'] !== undefined) delete schema['additionalProperties']
  for (const keyword of ['pattern', 'patternProperties', 'unevaluatedProperties', 'unevaluatedItems']) {
    delete schema[keyword]
  }
  if (relaxedSchemas.has(schema['not'])) delete schema['not']
  if (relaxedSchemas.has(schema['contains'])) delete schema['maxContains']
  // Without the keyword for the condition, validators ignore both of its branches.
  if (relaxedSchemas.has(schema['if'])) delete schema['if']
  const { oneOf } = schema
  if (!Array.isArray(oneOf) || !oneOf.some((branch) => relaxedSchemas.has(branch))) return
  delete schema['oneOf']
  schema['allOf'] = [...(Array.isArray(schema['allOf']) ? schema['allOf'] : []), { anyOf: oneOf }]
}
