import type { JsonObject } from '@x/core'
import type { Subschema } from './subschemas.ts'

type MutableSchema = { [keyword: string]: unknown }

/**
 * Removes `pattern` and `patternProperties` from a peer's schemas: on a text that the peer chose, a backtracking engine
 * could run a pattern for years. The given schemas are changed, so pass your own copy.
 *
 * Without its patterns, a schema accepts more values. Where that would make an enclosing keyword reject a valid value,
 * as `not` does, that keyword is removed or relaxed too, so that no value is rejected which the whole schema accepts.
 */
export function ignorePatterns(allSubschemas: readonly Subschema[]): void {
  const relaxedSchemas = findRelaxedSchemas(allSubschemas)
  for (const { schema } of allSubschemas) {
    // The cast is safe: the caller passes its own copy.
    if (relaxedSchemas.has(schema)) relaxSchema(schema as MutableSchema, relaxedSchemas)
  }
}

/**
 * They accept more values without patterns: schemas with a pattern, and schemas that contain such a schema. If there is
 * a pattern anywhere, every schema with a reference is one too, because the reference may lead to it.
 */
function findRelaxedSchemas(allSubschemas: readonly Subschema[]): ReadonlySet<unknown> {
  const relaxedSchemas = new Set<unknown>()
  if (!allSubschemas.some(({ schema }) => hasPattern(schema))) return relaxedSchemas
  // Parents come before their children in the list. In reverse order, every child has marked its parent before the
  // parent is visited.
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
