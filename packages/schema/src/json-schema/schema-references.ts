import { isJsonObject, type JsonObject, type JsonValue } from '../basic/json.ts'
import type { Subschema } from './subschemas.ts'

/**
 * Returns the first problem of the references among subschemas. A reference leaves the schema, leads nowhere, or closes
 * a cycle that never descends into the value, which a validator would follow forever.
 */
export function referencesProblem(found: readonly Subschema[]): string | undefined {
  const document = readDocument(found)
  for (const subschema of found) {
    for (const [keyword, reference] of referencesOf(subschema.schema)) {
      const target = resolve(document, subschema, reference)
      if (typeof target === 'string') return `its ${keyword} ${quoteReference(reference)} ${target}`
    }
  }
  return hasCycle(found, stepsInPlace(found, document)) ? 'its references go round without end' : undefined
}

/** The keywords that refer to another schema. */
function referencesOf({ $ref, $dynamicRef }: JsonObject): [string, string][] {
  const references: [string, string][] = []
  if (typeof $ref === 'string') references.push(['$ref', $ref])
  if (typeof $dynamicRef === 'string') references.push(['$dynamicRef', $dynamicRef])
  return references
}

interface Document {
  readonly root: JsonObject
  readonly anchors: ReadonlyMap<string, JsonObject>
  readonly schemas: ReadonlySet<JsonValue>
}

function readDocument(found: readonly Subschema[]): Document {
  const anchors = new Map<string, JsonObject>()
  for (const { schema } of found) {
    for (const anchor of [schema['$anchor'], schema['$dynamicAnchor']]) {
      if (typeof anchor === 'string') anchors.set(anchor, schema)
    }
  }
  return { root: found[0]?.schema ?? {}, anchors, schemas: new Set(found.map(({ schema }) => schema)) }
}

/** Resolves a reference to a schema, or returns its problem. Nothing is ever fetched. */
function resolve(document: Document, from: Subschema, reference: string): JsonObject | boolean | string {
  if (!reference.startsWith('#'))
    return 'leaves the schema; only references within it, such as #/$defs/name, are followed'
  if (isEmbedded(from)) return 'stands in a part with an $id of its own, where a # means that part; take the $id away'
  const fragment = decodeFragment(reference)
  if (fragment === undefined) return 'is not well-formed'
  const target =
    fragment === '' || fragment.startsWith('/')
      ? resolvePointer(document.root, fragment)
      : document.anchors.get(fragment)
  if (typeof target === 'boolean') return target
  return isJsonObject(target) && document.schemas.has(target) ? target : 'leads to no schema within it'
}

function isEmbedded(from: Subschema): boolean {
  for (let here: Subschema | undefined = from; here?.parent !== undefined; here = here.parent) {
    if (Object.hasOwn(here.schema, '$id')) return true
  }
  return false
}

function decodeFragment(reference: string): string | undefined {
  try {
    return decodeURIComponent(reference.slice(1))
  } catch {
    return undefined
  }
}

/** Resolves a JSON Pointer (RFC 6901) through own members alone. */
function resolvePointer(root: JsonObject, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = root
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    value = member(value, key)
  }
  return value
}

function member(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^(?:0|[1-9][0-9]{0,8})$/.test(key) ? value[Number(key)] : undefined
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Keywords that apply a schema to the same value as their own schema. */
const inPlaceKeywords: ReadonlySet<string> = new Set(
  'allOf anyOf oneOf not if then else dependentSchemas dependencies'.split(' '),
)

type Steps = ReadonlyMap<JsonObject, readonly JsonObject[]>

/** Maps each schema to the schemas that a validator applies to the same value. */
function stepsInPlace(found: readonly Subschema[], document: Document): Steps {
  const steps = new Map<JsonObject, JsonObject[]>()
  for (const subschema of found) {
    const { schema, parent, keyword } = subschema
    if (parent !== undefined && inPlaceKeywords.has(keyword)) appendTo(steps, parent.schema, schema)
    for (const [, reference] of referencesOf(schema)) {
      const target = resolve(document, subschema, reference)
      if (isJsonObject(target)) appendTo(steps, schema, target)
    }
  }
  return steps
}

/** Tells if the steps form a cycle: schemas without incoming steps are removed until only cycles remain. */
function hasCycle(found: readonly Subschema[], steps: Steps): boolean {
  const arrivals = new Map<JsonObject, number>(found.map(({ schema }) => [schema, 0]))
  for (const targets of steps.values()) {
    for (const to of targets) arrivals.set(to, (arrivals.get(to) ?? 0) + 1)
  }
  const free = [...arrivals.keys()].filter((schema) => arrivals.get(schema) === 0)
  for (const from of free) {
    for (const to of steps.get(from) ?? []) {
      const remaining = (arrivals.get(to) ?? 0) - 1
      arrivals.set(to, remaining)
      if (remaining === 0) free.push(to)
    }
  }
  return free.length < arrivals.size
}

function appendTo(map: Map<JsonObject, JsonObject[]>, key: JsonObject, value: JsonObject): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}

function quoteReference(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}
