import type { SchemaDialect } from './check-schema.ts'
import type { JsonObject } from '@x/core'
import { collectSubschemas } from './subschemas.ts'

/**
 * Copies a schema that `findSchemaProblem` has accepted, for a validator that ignores dialects: it reads the copy as
 * the schema's dialect defines.
 *
 * Left out are keywords that the dialect does not define, and `format`, which is an annotation in 2020-12 and may be
 * one in draft-07; also the URIs of the schema, because a validator would resolve references by them. `$dynamicRef`
 * becomes `$ref`, because both name the same schema within one schema resource, and references in other resources are
 * rejected.
 */
export function copyForDialect(schema: JsonObject, dialect: SchemaDialect): JsonObject {
  // Through JSON text, because a schema from this process may contain one object twice, or undefined members.
  const copy: JsonObject = JSON.parse(JSON.stringify(schema))
  const subschemasOrProblem = collectSubschemas(copy)
  if (typeof subschemasOrProblem === 'string') return copy
  for (const subschema of subschemasOrProblem) {
    // The cast is safe: only this function has the copy until it returns.
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
