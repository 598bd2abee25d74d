import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { isModelFormat, hasLookAround } from '@x/schema/internal'
import { cleanText, textLimits } from './clean-text.ts'
import { refuseOperation } from './open-api-error.ts'
import { listHidden, requiresHidden, type SchemaSide, type SchemaSource, withoutSiblings } from './hidden-members.ts'
import { followPointer, listOf } from './open-document.ts'

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

export function mapChildren(schema: JsonObject, change: (child: JsonValue, keyword: string) => JsonValue): JsonObject {
  const changed: Record<string, JsonValue> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined) continue
    const changeChild = (child: JsonValue): JsonValue => change(child, keyword)
    if (isJsonArray(value) && childLists.has(keyword)) changed[keyword] = value.map(changeChild)
    else if (isJsonObject(value) && childMaps.has(keyword)) changed[keyword] = mapMembers(value, changeChild)
    else changed[keyword] = children.has(keyword) ? changeChild(value) : value
  }
  return changed
}

function mapMembers(members: JsonObject, change: (member: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, member = {}]) => [name, change(member)]))
}

/** Where a schema is. */
export interface SchemaLevel {
  /** The arguments of a tool are at 0. */
  readonly depth: number
  /** Members that other schemas of the same value hide. */
  readonly hidden: readonly JsonValue[]
}

/** These are about the same value as the schema that has them. */
const sameValue: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'dependentSchemas'])

/**
 * Makes JSON Schema 2020-12 of a document's schema. References stay as they are. The result accepts each value that the
 * schema accepts, without the members that belong to the other side.
 */
export function convertSchema(schema: JsonValue | undefined, source: SchemaSource, level: SchemaLevel): JsonValue {
  const { depth } = level
  if (typeof schema === 'boolean') return schema
  if (!isJsonObject(schema)) refuseOperation('has a schema that is not an object')
  checkSchemaDepth(depth)
  const own = withoutSiblings(schema, source)
  // Arguments belong to the input.
  const isArguments = depth === 0 && source.side === 'input'
  const hidden = isArguments ? level.hidden : [...level.hidden, ...listHidden(own, source)]
  const kept: Record<string, JsonValue | undefined> = {}
  for (const [keyword, value] of Object.entries(withoutHidden(own, source, hidden))) {
    const result = value === undefined ? undefined : keywords.get(keyword)?.(value, source.side)
    if (result !== undefined) kept[keyword] = result
  }
  return allowNull(
    finishKeywords(
      mapChildren(kept, (child, keyword) =>
        convertSchema(child, source, { depth: depth + 1, hidden: sameValue.has(keyword) ? hidden : [] }),
      ),
      schema,
    ),
  )
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

/** Leaves out the members that belong to the other side alone, and what requires them. */
function withoutHidden(schema: JsonObject, source: SchemaSource, hidden: SchemaLevel['hidden']): JsonObject {
  if (hidden.length === 0) return schema
  const { $ref, ...siblings } = schema
  // Other schemas use the definition too, so the one of this value is a copy.
  if (typeof $ref === 'string' && requiresHidden($ref, source, hidden))
    return withoutHidden(
      { ...siblings, allOf: [followPointer(source.document, $ref), ...listOf(siblings['allOf'])] },
      source,
      hidden,
    )
  const { properties, required, dependentRequired } = schema
  const keepMembers = (members: JsonObject): [string, JsonValue | undefined][] =>
    Object.entries(members).filter(([name]) => !hidden.includes(name))
  const keepNames = (names: JsonValue | undefined): JsonValue[] =>
    listOf(names).filter((name) => !hidden.includes(name))
  return {
    ...schema,
    ...(isJsonObject(properties) && { properties: Object.fromEntries(keepMembers(properties)) }),
    ...(isJsonArray(required) && { required: keepNames(required) }),
    ...(isJsonObject(dependentRequired) && {
      dependentRequired: Object.fromEntries(
        keepMembers(dependentRequired).map(([name, names]) => [name, keepNames(names)]),
      ),
    }),
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
