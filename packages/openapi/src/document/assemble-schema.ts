import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { findSchemaProblem } from '@x/schema'
import { checkSchemaDepth, convertSchema, mapChildren } from './convert-schema.ts'
import type { SchemaSource } from './hidden-members.ts'
import { refuseOperation } from './open-api-error.ts'
import { followPointer } from './open-document.ts'

/** What was left out of a schema that is too long: texts, or everything below a level. */
export type SchemaCut = 'descriptions' | 2 | 3 | 4 | 5 | 6

export interface AssembledSchema {
  readonly schema: JsonObject
  /** Undefined for a schema that is complete. */
  readonly cut: SchemaCut | undefined
}

interface Definition {
  readonly schema: JsonObject
  readonly references: readonly string[]
}

/**
 * Makes one schema, without references into the document, of a schema of the document. Each definition of the document
 * is converted once.
 */
export function createAssembler(source: SchemaSource, maxCharacters: number): (schema: JsonObject) => AssembledSchema {
  // Bounded by the definitions of the author's document.
  const definitions = new Map<string, Definition>()
  const findDefinition = (reference: string): Definition => {
    const definition = definitions.get(reference) ?? toDefinition(followPointer(source.document, reference), source, 1)
    definitions.set(reference, definition)
    return definition
  }
  return (schema) => {
    const root = toDefinition(schema, source, 0)
    const complete = joinDefinitions(root, findDefinition)
    const problem = findSchemaProblem(complete)
    if (problem !== undefined) refuseOperation(`its schema cannot be used: ${problem}`)
    if (schemaLengthOf(complete) <= maxCharacters) return { schema: complete, cut: undefined }
    for (const cut of ['descriptions', 6, 5, 4, 3, 2] as const) {
      const shorter = cutSchema(complete, cut)
      if (schemaLengthOf(shorter) <= maxCharacters) return { schema: shorter, cut }
    }
    return refuseOperation(`its schema has more than ${maxCharacters} characters on its first two levels`)
  }
}

function toDefinition(schema: JsonValue, source: SchemaSource, depth: 0 | 1): Definition {
  const converted = toSchemaObject(convertSchema(schema, source, { depth, hidden: [] }))
  const references: string[] = []
  const collect = (each: JsonValue): JsonValue => {
    if (!isJsonObject(each)) return each
    if (typeof each['$ref'] === 'string') references.push(each['$ref'])
    return mapChildren(each, collect)
  }
  collect(converted)
  return { schema: converted, references }
}

function toSchemaObject(schema: JsonValue): JsonObject {
  if (isJsonObject(schema)) return schema
  return schema === false ? { not: {} } : {}
}

/**
 * Puts a definition in the place of its only reference, because some hosts read no references. A definition with
 * several is under `$defs`, and so is one that refers to itself, which is a second reference.
 */
function joinDefinitions(root: Definition, findDefinition: (reference: string) => Definition): JsonObject {
  const uses = countUses(root, findDefinition)
  const names = nameShared(uses)
  const replace = (schema: JsonObject, depth: number): JsonObject => {
    const { $ref, ...siblings } = schema
    const replaceChild = (child: JsonValue): JsonValue => (isJsonObject(child) ? replace(child, depth + 1) : child)
    checkSchemaDepth(depth)
    if (typeof $ref !== 'string') return mapChildren(schema, replaceChild)
    const name = names.get($ref)
    const others = mapChildren(siblings, replaceChild)
    if (name !== undefined) return { $ref: `#/$defs/${name}`, ...others }
    const inlined = replace(findDefinition($ref).schema, depth + 1)
    const hasRules = Object.keys(others).some((keyword) => !['title', 'description', 'default'].includes(keyword))
    return hasRules
      ? { ...others, allOf: [inlined, ...(isJsonArray(others['allOf']) ? others['allOf'] : [])] }
      : { ...inlined, ...others }
  }
  const joined = replace(root.schema, 0)
  if (names.size === 0) return joined
  const shared = Array.from(names, ([reference, name]) => [name, replace(findDefinition(reference).schema, 0)])
  return { ...joined, $defs: Object.fromEntries(shared) }
}

function countUses(root: Definition, findDefinition: (reference: string) => Definition): ReadonlyMap<string, number> {
  const uses = new Map<string, number>()
  const pending = [root]
  for (const { references } of pending) {
    for (const reference of references) {
      const count = uses.get(reference) ?? 0
      uses.set(reference, count + 1)
      if (count === 0) pending.push(findDefinition(reference))
    }
  }
  return uses
}

function nameShared(uses: ReadonlyMap<string, number>): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  for (const [reference, count] of uses) {
    if (count === 1) continue
    const wanted = reference
      .slice(reference.lastIndexOf('/') + 1)
      .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
      .slice(0, 60)
    const name = taken.has(wanted) || wanted === '' ? `${wanted}_${names.size}` : wanted
    taken.add(name)
    names.set(reference, name)
  }
  return names
}

function schemaLengthOf(schema: JsonObject): number {
  return JSON.stringify(schema).length
}

/** When descriptions are cut, those of deeper levels go. The arguments are the second level. */
const describedLevels = 3

/** The result is shorter, and accepts at least as much. */
function cutSchema({ $defs, ...root }: JsonObject, cut: SchemaCut): JsonObject {
  const definitions = isJsonObject($defs) ? $defs : {}
  // A definition is at the highest level at which it is used. Bounded by the definitions of one schema.
  const levels = new Map<string, number>()
  const pending: string[] = []
  const shorten = (schema: JsonObject, level: number): JsonObject => {
    const { title, description, ...rules } = schema
    const { type, $ref } = rules
    if (cut !== 'descriptions' && level > cut) return type === undefined ? {} : { type }
    const name = typeof $ref === 'string' ? $ref.slice('#/$defs/'.length) : undefined
    if (name !== undefined) {
      if (!levels.has(name)) pending.push(name)
      levels.set(name, Math.min(level, levels.get(name) ?? level))
    }
    const kept = level > describedLevels ? rules : { title, description, ...rules }
    return mapChildren(kept, (child) => (isJsonObject(child) ? shorten(child, level + 1) : child))
  }
  const shortened = shorten(root, 1)
  const shared: [string, JsonObject][] = []
  for (const name of pending) {
    const { [name]: definition } = definitions
    shared.push([name, shorten(toSchemaObject(definition ?? {}), levels.get(name) ?? 1)])
  }
  return shared.length === 0 ? shortened : { ...shortened, $defs: Object.fromEntries(shared) }
}
