import { isJsonObject, type JsonObject } from '@x/core'

/**
 * Depth of nested subschemas with the schema itself, number of subschemas, and length of a regular expression in UTF-16
 * code units.
 */
export const schemaBounds = {
  // limit: schema depth | count | levels of a schema of a server | the schema is rejected
  depth: 64,
  // limit: schema size | count | subschemas of a schema of a server | the schema is rejected
  subschemaCount: 10_000,
  // limit: pattern length | characters | a regular expression in a schema | the schema is rejected
  patternLength: 1000,
}

/** A schema within a schema, with its location. */
export interface Subschema {
  readonly schema: JsonObject
  /** JSON Pointer from the root, empty for the root itself. */
  readonly pointer: string
  /** How many schemas enclose it, this one included. */
  readonly depth: number
  /** Property names from the root to this schema. Undefined if the path has any other keyword than `properties`. */
  readonly propertyPath: readonly string[] | undefined
  /** Enclosing schema, or `undefined` for the root. */
  readonly parent: Subschema | undefined
  /** Keyword of the parent that contains this schema. Empty for the root. */
  readonly keyword: string
}

/**
 * Lists a schema and all its subschemas, the root first. A text says that a limit is exceeded. An object under an
 * unknown keyword counts as a subschema, because some validators treat it as one.
 */
export function collectSubschemas(schema: JsonObject): Subschema[] | string {
  const root = { schema, pointer: '', depth: 1, propertyPath: [], parent: undefined, keyword: '' }
  const allSubschemas: Subschema[] = [root]
  for (let at = 0; at < allSubschemas.length; at++) {
    const currentSubschema = allSubschemas[at] ?? root
    if (currentSubschema.depth > schemaBounds.depth) return `it is more than ${schemaBounds.depth} subschemas deep`
    for (const child of subschemasOf(currentSubschema)) {
      if (allSubschemas.push(child) > schemaBounds.subschemaCount)
        return `it has more than ${schemaBounds.subschemaCount} subschemas`
    }
  }
  return allSubschemas
}

/** Their values are plain data. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', '$vocabulary'])

/** They contain schemas by name. */
const mapKeywords: ReadonlySet<string> = new Set(
  '$defs definitions properties patternProperties dependentSchemas dependencies'.split(' '),
)

/** Lazily, so that a limit stops the search. */
function* subschemasOf(parent: Subschema): Generator<Subschema> {
  for (const [keyword, value] of Object.entries(parent.schema)) {
    if (dataKeywords.has(keyword)) continue
    const pointer = `${parent.pointer}/${escapePointer(keyword)}`
    const subschemaFields = { parent, keyword, depth: parent.depth + 1, propertyPath: undefined, pointer }
    if (isJsonObject(value) && !mapKeywords.has(keyword)) yield { ...subschemaFields, schema: value }
    else if (typeof value === 'object' && value !== null) yield* memberSchemasOf(subschemaFields, value)
  }
}

function* memberSchemasOf(subschemaFields: Omit<Subschema, 'schema'>, container: object): Generator<Subschema> {
  for (const [name, schema] of Object.entries(container)) {
    if (!isJsonObject(schema)) continue
    const propertyPath =
      subschemaFields.keyword === 'properties' ? subschemaFields.parent?.propertyPath?.concat(name) : undefined
    yield { ...subschemaFields, schema, pointer: `${subschemaFields.pointer}/${escapePointer(name)}`, propertyPath }
  }
}

/** As a step of a JSON Pointer (RFC 6901). */
function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/**
 * Replaces each subschema by what `change` makes of it, in a copy, the innermost first and the schema itself last. The
 * schema must be within the limits of {@link collectSubschemas}.
 */
export function mapSubschemas(schema: JsonObject, change: (subschema: JsonObject) => JsonObject): JsonObject {
  const mapped = Object.entries(schema).map(([keyword, value]) => [keyword, mapMember(keyword, value, change)])
  return change(Object.fromEntries(mapped))
}

function mapMember(
  keyword: string,
  value: JsonObject[string],
  change: (subschema: JsonObject) => JsonObject,
): JsonObject[string] {
  if (dataKeywords.has(keyword)) return value
  if (Array.isArray(value)) return value.map((item) => (isJsonObject(item) ? mapSubschemas(item, change) : item))
  if (!isJsonObject(value)) return value
  if (!mapKeywords.has(keyword)) return mapSubschemas(value, change)
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([name, item]) => [name, isJsonObject(item) ? mapSubschemas(item, change) : item]),
  )
}
