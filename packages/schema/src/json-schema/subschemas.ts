import { isJsonObject, type JsonObject } from '../basic/json.ts'

/** How large a schema may be. */
export interface SchemaBounds {
  /** Subschemas within one another, the schema itself counted. */
  readonly depth: number
  /** Subschemas in all. */
  readonly subschemas: number
  /** UTF-16 units of a regular expression. */
  readonly patternLength: number
}

/** The bounds of a schema's check that was given none: 64 levels, 10,000 subschemas, patterns of 1,000 units. */
export const defaultSchemaBounds: SchemaBounds = { depth: 64, subschemas: 10_000, patternLength: 1000 }

/** A schema within a schema, and where it stands. */
export interface Subschema {
  readonly schema: JsonObject
  /** JSON Pointer from the root; empty for the root itself. */
  readonly pointer: string
  /** How many schemas enclose it, itself counted. */
  readonly depth: number
  /** The names on a way of `properties` keys alone from the root; `undefined` when there is no such way. */
  readonly properties: readonly string[] | undefined
  /** The schema that it stands in; `undefined` for the root. */
  readonly parent: Subschema | undefined
  /** The keyword of the parent that holds it. */
  readonly keyword: string
}

/**
 * Every subschema of a schema, the root first, or the reason why there are too many. A keyword that no dialect knows is
 * taken for an applicator, since validators differ in whether they look inside.
 */
export function subschemas(schema: JsonObject, bounds: SchemaBounds = defaultSchemaBounds): Subschema[] | string {
  const root = { schema, pointer: '', depth: 1, properties: [], parent: undefined, keyword: '' }
  const found: Subschema[] = [root]
  for (let at = 0; at < found.length; at++) {
    const here = found[at] ?? root
    if (here.depth > bounds.depth) return `it is more than ${bounds.depth} subschemas deep`
    for (const child of children(here)) {
      if (found.push(child) > bounds.subschemas) return `it has more than ${bounds.subschemas} subschemas`
    }
  }
  return found
}

/** Keywords whose values are data, whatever they look like. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', '$vocabulary'])

/** Keywords that hold schemas by name. */
const mapKeywords: ReadonlySet<string> = new Set(
  '$defs definitions properties patternProperties dependentSchemas dependencies'.split(' '),
)

/** The subschemas right within one, found as they are asked for, so that a bound stops the search. */
function* children(parent: Subschema): Generator<Subschema> {
  for (const [keyword, value] of Object.entries(parent.schema)) {
    if (dataKeywords.has(keyword)) continue
    const pointer = `${parent.pointer}/${escapePointer(keyword)}`
    const place = { parent, keyword, depth: parent.depth + 1, properties: undefined, pointer }
    if (isJsonObject(value) && !mapKeywords.has(keyword)) yield { ...place, schema: value }
    else if (typeof value === 'object' && value !== null) yield* named(place, value)
  }
}

/** The schemas of an array, or of an object that holds them by name. */
function* named(place: Omit<Subschema, 'schema'>, holder: object): Generator<Subschema> {
  for (const [name, schema] of Object.entries(holder)) {
    if (!isJsonObject(schema)) continue
    const properties = place.keyword === 'properties' ? place.parent?.properties?.concat(name) : undefined
    yield { ...place, schema, pointer: `${place.pointer}/${escapePointer(name)}`, properties }
  }
}

/** A name as a step of a JSON Pointer (RFC 6901). */
function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
