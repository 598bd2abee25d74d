import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { isModelFormat, hasLookAround } from '@x/schema/internal'
import { cleanText, textLimits } from './clean-text.ts'
import { refuseOperation } from './open-api-error.ts'
import { followReferences, listOf, type OpenApiDocument } from './open-document.ts'

/** The side on which a schema stands: members that only the API writes are no arguments, and the reverse. */
export type SchemaSide = 'input' | 'output'

export interface SchemaSource {
  readonly document: OpenApiDocument
  readonly side: SchemaSide
}

type Convert = (value: JsonValue, source: SchemaSource, depth: number) => JsonValue | undefined

const maxDepth = 60

const copy: Convert = (value) => value
const convertList: Convert = (value, source, depth) =>
  isJsonArray(value) ? value.map((member) => convertSchema(member, source, depth + 1)) : value

const convertMembers: Convert = (value, source, depth) => {
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).filter(([, member]) => !isHidden(member, source))
  return Object.fromEntries(members.map(([name, member]) => [name, convertSchema(member, source, depth + 1)]))
}

/**
 * The keywords that remain. Any other is dropped: those of OpenAPI and extensions, negations, conditions, and those about
 * what no other keyword has read. A change below one of the latter could make it reject what it accepted.
 */
const keywords: ReadonlyMap<string, Convert> = new Map<string, Convert>([
  ...namesOf('type enum const default multipleOf minimum maximum exclusiveMinimum exclusiveMaximum', copy),
  ...namesOf('minLength maxLength minItems maxItems uniqueItems minContains minProperties maxProperties', copy),
  ...namesOf('required dependentRequired $ref nullable x-nullable', copy),
  ['title', (value) => cleanText(value, textLimits.title) || undefined],
  ['description', (value) => cleanText(value, textLimits.parameter) || undefined],
  ['format', (value) => (typeof value === 'string' && isModelFormat(value) ? value : undefined)],
  ['pattern', (value, { side }) => (side === 'input' && isPlainPattern(value) ? value : undefined)],
  ...namesOf('properties dependentSchemas', convertMembers),
  ...namesOf('allOf anyOf oneOf prefixItems', convertList),
  ...namesOf('items contains propertyNames additionalProperties', (value, source, depth) =>
    convertSchema(value, source, depth + 1),
  ),
])

function namesOf(names: string, convert: Convert): readonly (readonly [string, Convert])[] {
  return names.split(' ').map((name) => [name, convert])
}

/**
 * Converts a schema of a document to JSON Schema 2020-12. References stay as they are. The result accepts each value
 * that the schema accepts, without the members that belong to the other side.
 */
export function convertSchema(schema: JsonValue | undefined, source: SchemaSource, depth = 0): JsonValue {
  if (typeof schema === 'boolean') return schema
  if (!isJsonObject(schema)) refuseOperation('has a schema that is no object')
  if (depth > maxDepth) refuseOperation(`has a schema that is more than ${maxDepth} levels deep`)
  const converted: Record<string, JsonValue | undefined> = {}
  for (const [keyword, value] of Object.entries(withoutSiblings(schema, source))) {
    const result = value === undefined ? undefined : keywords.get(keyword)?.(value, source, depth)
    if (result !== undefined) converted[keyword] = result
  }
  return allowNull(finishKeywords(converted, schema, source))
}

/** Before 3.1, a reference has no siblings. Texts beside it do no harm, and documents have them. */
function withoutSiblings(schema: JsonObject, { document }: SchemaSource): JsonObject {
  const { $ref, title, description } = schema
  return typeof $ref !== 'string' || document.version === '3.1' ? schema : { $ref, title, description }
}

function finishKeywords(
  { oneOf, ...converted }: Record<string, JsonValue | undefined>,
  schema: JsonObject,
  source: SchemaSource,
): JsonObject {
  // Alternatives of real documents overlap, and a value that matches two would be rejected.
  if (oneOf !== undefined && converted['anyOf'] === undefined) converted['anyOf'] = oneOf
  else if (oneOf !== undefined) converted['allOf'] = [...listOf(converted['allOf']), { anyOf: oneOf }]
  const { required, items } = converted
  if (required !== undefined)
    converted['required'] = isJsonArray(required) ? visibleNames(required, schema, source) : undefined
  // The array form of `items` is that of older drafts.
  if (isJsonArray(schema['items'])) Object.assign(converted, { items: undefined, prefixItems: items })
  if (schema['patternProperties'] !== undefined) delete converted['additionalProperties']
  if (converted['type'] === 'file') converted['type'] = 'string'
  setExclusive(converted, 'minimum', 'exclusiveMinimum')
  setExclusive(converted, 'maximum', 'exclusiveMaximum')
  return converted
}

function visibleNames(names: readonly JsonValue[], { properties }: JsonObject, source: SchemaSource): JsonValue {
  return names.filter((name) => {
    if (!isJsonObject(properties) || typeof name !== 'string' || !Object.hasOwn(properties, name)) return true
    return !isHidden(properties[name], source)
  })
}

/** Returns true for a member that belongs to the other side alone. */
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
 * Returns true for a regular expression that may check arguments. A repeated group can take time that grows
 * exponentially with the text, and model APIs refuse look-around.
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
