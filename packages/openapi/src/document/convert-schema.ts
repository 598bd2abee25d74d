import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { isModelFormat, hasLookAround } from '@x/schema/internal'
import { cleanText, textLimits } from './clean-text.ts'
import { refuseOperation } from './open-api-error.ts'
import { followReferences, listOf, type OpenApiDocument } from './open-document.ts'

/** Members that only the API writes are no arguments, and the reverse. */
export type SchemaSide = 'input' | 'output'

export interface SchemaSource {
  readonly document: OpenApiDocument
  readonly side: SchemaSide
}

// limit: API schema depth | count | levels of a schema of a document | the operation is no tool
const maxDepth = 60

/** Less than the depth that `findSchemaProblem` accepts. */
export function checkSchemaDepth(depth: number): void {
  if (depth > maxDepth) refuseOperation(`has a schema that is more than ${maxDepth} levels deep`)
}

type Convert = (value: JsonValue, side: SchemaSide) => JsonValue | undefined
const copy: Convert = (value) => value

/**
 * Any other keyword is dropped: those of OpenAPI and extensions, negations, conditions, and those about what no other
 * keyword has read. A change below one of the latter could make it reject what it accepted.
 */
const keywords: ReadonlyMap<string, Convert> = new Map([
  ...namesOf('type enum const default multipleOf minimum maximum exclusiveMinimum exclusiveMaximum', copy),
  ...namesOf('minLength maxLength minItems maxItems uniqueItems minContains minProperties maxProperties', copy),
  ...namesOf('dependentRequired $ref nullable x-nullable properties dependentSchemas', copy),
  ...namesOf('allOf anyOf oneOf prefixItems items contains propertyNames additionalProperties', copy),
  ...namesOf('required', (value) => (isJsonArray(value) ? value : undefined)),
  ...namesOf('title', (value) => cleanText(value, textLimits.title) || undefined),
  ...namesOf('description', (value) => cleanText(value, textLimits.parameter) || undefined),
  ...namesOf('format', (value) => (typeof value === 'string' && isModelFormat(value) ? value : undefined)),
  ...namesOf('pattern', (value, side) => (side === 'input' && isPlainPattern(value) ? value : undefined)),
])

function namesOf(names: string, convert: Convert): readonly (readonly [string, Convert])[] {
  return names.split(' ').map((name) => [name, convert])
}

const childLists: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'])
const childMaps: ReadonlySet<string> = new Set(['properties', 'dependentSchemas', '$defs'])
const children: ReadonlySet<string> = new Set(['items', 'contains', 'propertyNames', 'additionalProperties'])

export function mapChildren(schema: JsonObject, change: (child: JsonValue) => JsonValue): JsonObject {
  const changed: Record<string, JsonValue> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined) continue
    if (isJsonArray(value) && childLists.has(keyword)) changed[keyword] = value.map(change)
    else if (isJsonObject(value) && childMaps.has(keyword)) changed[keyword] = mapMembers(value, change)
    else changed[keyword] = children.has(keyword) ? change(value) : value
  }
  return changed
}

function mapMembers(members: JsonObject, change: (member: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, member = {}]) => [name, change(member)]))
}

/**
 * Makes JSON Schema 2020-12 of a document's schema. References stay as they are. The result accepts each value that the
 * schema accepts, without the members that belong to the other side.
 */
export function convertSchema(schema: JsonValue | undefined, source: SchemaSource, depth = 0): JsonValue {
  if (typeof schema === 'boolean') return schema
  if (!isJsonObject(schema)) refuseOperation('has a schema that is not an object')
  checkSchemaDepth(depth)
  const kept: Record<string, JsonValue | undefined> = {}
  for (const [keyword, value] of Object.entries(withoutHidden(withoutSiblings(schema, source), source, depth))) {
    const result = value === undefined ? undefined : keywords.get(keyword)?.(value, source.side)
    if (result !== undefined) kept[keyword] = result
  }
  return allowNull(
    finishKeywords(
      mapChildren(kept, (child) => convertSchema(child, source, depth + 1)),
      schema,
    ),
  )
}

/** Before 3.1, a reference has no siblings. Texts beside it do no harm, and documents have them. */
function withoutSiblings(schema: JsonObject, { document }: SchemaSource): JsonObject {
  const { $ref, title, description } = schema
  return typeof $ref !== 'string' || document.version === '3.1' ? schema : { $ref, title, description }
}

function finishKeywords({ oneOf, ...kept }: JsonObject, schema: JsonObject): JsonObject {
  const converted: Record<string, JsonValue | undefined> = kept
  // Alternatives of real documents overlap, and a value that matches two would be rejected.
  if (oneOf !== undefined && converted['anyOf'] === undefined) converted['anyOf'] = oneOf
  else if (oneOf !== undefined) converted['allOf'] = [...listOf(converted['allOf']), { anyOf: oneOf }]
  // Older drafts have `items` as an array.
  if (isJsonArray(schema['items'])) Object.assign(converted, { items: undefined, prefixItems: converted['items'] })
  if (schema['patternProperties'] !== undefined) delete converted['additionalProperties']
  if (converted['type'] === 'file') converted['type'] = 'string'
  setExclusive(converted, 'minimum', 'exclusiveMinimum')
  setExclusive(converted, 'maximum', 'exclusiveMaximum')
  return converted
}

/**
 * Leaves out the members that belong to the other side alone. Arguments, which are the first level, belong to the
 * input.
 */
function withoutHidden(schema: JsonObject, source: SchemaSource, depth: number): JsonObject {
  const { properties, required } = schema
  if (!isJsonObject(properties) || (depth === 0 && source.side === 'input')) return schema
  const hidden = new Set<JsonValue>(Object.keys(properties).filter((name) => isHidden(properties[name], source)))
  if (hidden.size === 0) return schema
  const visible = Object.entries(properties).filter(([name]) => !hidden.has(name))
  return {
    ...schema,
    properties: Object.fromEntries(visible),
    required: listOf(required).filter((name) => !hidden.has(name)),
  }
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

/** Before 3.1, `exclusiveMinimum` is a boolean beside `minimum`. */
function setExclusive(schema: Record<string, JsonValue | undefined>, limit: string, exclusive: string): void {
  if (typeof schema[exclusive] !== 'boolean') return
  const isExclusive = schema[exclusive] && schema[limit] !== undefined
  schema[exclusive] = isExclusive ? schema[limit] : undefined
  if (isExclusive) delete schema[limit]
}

function allowNull({ nullable, 'x-nullable': isNullable, ...schema }: JsonObject): JsonObject {
  const { type, enum: values } = schema
  if (nullable !== true && isNullable !== true) return schema
  if (typeof type !== 'string') return type === undefined && Object.keys(schema).length > 0 ? orNull(schema) : schema
  const allowed = isJsonArray(values) && !values.includes(null) ? [...values, null] : values
  return { ...schema, type: [type, 'null'], ...(allowed !== undefined && { enum: allowed }) }
}

function orNull({ title, description, ...schema }: JsonObject): JsonObject {
  return { title, description, anyOf: [schema, { type: 'null' }] }
}

/**
 * True for a regular expression that may check arguments. A repeated group can take time that grows exponentially with
 * the text, and model APIs refuse look-around.
 */
function isPlainPattern(pattern: JsonValue): boolean {
  if (
    typeof pattern !== 'string' ||
    pattern.length > 1000 ||
    hasLookAround(pattern) ||
    /\)(?:[*+]|\{\d+,)|\\[1-9k]/.test(pattern)
  )
    return false
  try {
    return new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false
  }
}
