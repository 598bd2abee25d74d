import type { SchemaDialect } from './check-schema.ts'
import type { JsonObject } from '@x/core'
import { collectSubschemas } from './subschemas.ts'

/**
 * A copy of an admitted schema that a validator without dialects reads as the schema's own dialect has it.
 *
 * It omits keywords that the dialect does not know, `format`, which is an annotation in 2020-12 and may be in draft-07,
 * and the names of the schema, which a validator would look references up by. `$dynamicRef` becomes `$ref`: within one
 * schema resource, which is all that is admitted, both lead to the same place.
 */
export function copyForDialect(schema: JsonObject, dialect: SchemaDialect): JsonObject {
  // Copied through text, since a schema made in this process may contain one object twice, and undefined members.
  const copy: JsonObject = JSON.parse(JSON.stringify(schema))
  const subschemasOrProblem = collectSubschemas(copy)
  if (typeof subschemasOrProblem === 'string') return copy
  for (const subschema of subschemasOrProblem) {
    // The copy belongs to this function until it is returned.
    const mutableSchema = subschema.schema as { [keyword: string]: unknown }
    if (dialect === '2020-12') replaceDynamicReferences(mutableSchema)
    for (const keyword of foreignKeywords[dialect]) delete mutableSchema[keyword]
  }
  return copy
}

const unsupportedKeywords = 'format id $id $schema $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor'.split(' ')

const foreignKeywords: { readonly [D in SchemaDialect]: readonly string[] } = {
  '2020-12': unsupportedKeywords,
  '7': [
    ...unsupportedKeywords,
    ...'prefixItems unevaluatedItems unevaluatedProperties dependentRequired dependentSchemas'.split(' '),
    ...'minContains maxContains $anchor'.split(' '),
  ],
}

function replaceDynamicReferences(schema: { [keyword: string]: unknown }): void {
  const { $dynamicRef, $dynamicAnchor, $ref, allOf } = schema
  if ($dynamicRef !== undefined && $ref === undefined) schema['$ref'] = $dynamicRef
  if ($dynamicRef !== undefined && $ref !== undefined) {
    schema['allOf'] = [...(Array.isArray(allOf) ? allOf : []), { $ref: $dynamicRef }]
  }
  if ($dynamicAnchor !== undefined) schema['$anchor'] ??= $dynamicAnchor
}
