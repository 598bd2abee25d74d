import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { followPointer, followReferences, listOf, objectOf, type OpenApiDocument } from './open-document.ts'

/** Members that only the API writes are no arguments, and the reverse. */
export type SchemaSide = 'input' | 'output'

export interface SchemaSource {
  readonly document: OpenApiDocument
  readonly side: SchemaSide
}

const affected = ['properties', 'required', 'dependentRequired', 'allOf', 'anyOf', 'oneOf']

/** Names of the members that belong to the other side, also those that another part of the schema declares. */
export function listHidden(schema: JsonObject, source: SchemaSource): readonly string[] {
  const isAffected = affected.some((keyword) => schema[keyword] !== undefined)
  return isAffected ? namesIn(listParts(schema, source), source) : []
}

/** True for a definition that requires hidden members which it does not hide itself. */
export function requiresHidden(reference: string, source: SchemaSource, hidden: readonly JsonValue[]): boolean {
  const parts = listParts({ $ref: reference }, source)
  const own = namesIn(parts, source)
  return parts.some(({ required, dependentRequired }) =>
    [required, ...Object.values(objectOf(dependentRequired))]
      .flatMap(listOf)
      .some((name) => hidden.includes(name) && !own.includes(String(name))),
  )
}

/** All that a value must match: the schema, its reference and its `allOf`, and the same of these. */
function listParts(schema: JsonObject, source: SchemaSource): readonly JsonObject[] {
  // Bounded by the schemas of the author's document. The loop visits what it adds.
  const parts = new Set([schema])
  for (const part of parts) {
    const { $ref, allOf } = withoutSiblings(part, source)
    const target = typeof $ref === 'string' ? followPointer(source.document, $ref) : undefined
    for (const each of [target, ...listOf(allOf)]) if (isJsonObject(each)) parts.add(each)
  }
  return [...parts]
}

function namesIn(parts: readonly JsonObject[], source: SchemaSource): readonly string[] {
  return parts.flatMap(({ properties }) =>
    Object.entries(objectOf(properties)).flatMap(([name, member]) => (isHidden(member, source) ? [name] : [])),
  )
}

function isHidden(schema: JsonValue | undefined, { document, side }: SchemaSource): boolean {
  if (!isJsonObject(schema)) return false
  const flag = side === 'input' ? 'readOnly' : 'writeOnly'
  if (schema[flag] === true || typeof schema['$ref'] !== 'string') return schema[flag] === true
  try {
    return followReferences(document, schema)[flag] === true
  } catch {
    // The conversion of the reference itself names the problem.
    return false
  }
}

/** Before 3.1, a reference has no siblings. Texts beside it do no harm, and documents have them. */
export function withoutSiblings(schema: JsonObject, { document }: SchemaSource): JsonObject {
  const { $ref, title, description } = schema
  return typeof $ref !== 'string' || document.version === '3.1' ? schema : { $ref, title, description }
}
