import { isJsonObject, type JsonObject, type JsonValue } from '../basic/json.ts'
import type { Subschema } from './subschemas.ts'

/**
 * What is wrong with the references among the subschemas of a schema: one leaves the schema or leads nowhere, or they lead
 * round to where they began without descending into the value, so that a validator would never end.
 */
export function flawOfReferences(found: readonly Subschema[]): string | undefined {
  const document = readDocument(found)
  for (const subschema of found) {
    for (const [keyword, reference] of referencesOf(subschema.schema)) {
      const target = resolve(document, subschema, reference)
      if (typeof target === 'string') return `its ${keyword} ${quoted(reference)} ${target}`
    }
  }
  return goesRound(found, stepsInPlace(found, document)) ? 'its references go round without end' : undefined
}

/** The keywords that point at another schema, with what they say. */
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

/** The schema that a reference means, or what is wrong with it. Nothing is ever fetched. */
function resolve(document: Document, from: Subschema, reference: string): JsonObject | boolean | string {
  if (!reference.startsWith('#'))
    return 'leaves the schema; only references within it, such as #/$defs/name, are followed'
  if (isEmbedded(from)) return 'stands in a part with an $id of its own, where a # means that part; take the $id away'
  const fragment = decodeFragment(reference)
  if (fragment === undefined) return 'is not well-formed'
  const target =
    fragment === '' || fragment.startsWith('/') ? at(document.root, fragment) : document.anchors.get(fragment)
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

/** What a JSON Pointer leads to (RFC 6901), by own members alone. */
function at(root: JsonObject, pointer: string): JsonValue | undefined {
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

/** Keywords that apply a schema to the very value that their own schema is applied to. */
const inPlaceKeywords: ReadonlySet<string> = new Set(
  'allOf anyOf oneOf not if then else dependentSchemas dependencies'.split(' '),
)

type Steps = ReadonlyMap<JsonObject, readonly JsonObject[]>

/** From each schema to those that a validator turns to with the same value. */
function stepsInPlace(found: readonly Subschema[], document: Document): Steps {
  const steps = new Map<JsonObject, JsonObject[]>()
  for (const subschema of found) {
    const { schema, parent, keyword } = subschema
    if (parent !== undefined && inPlaceKeywords.has(keyword)) append(steps, parent.schema, schema)
    for (const [, reference] of referencesOf(schema)) {
      const target = resolve(document, subschema, reference)
      if (isJsonObject(target)) append(steps, schema, target)
    }
  }
  return steps
}

/** Whether the steps come back to where they began: what nothing leads to is taken away until all that is left does. */
function goesRound(found: readonly Subschema[], steps: Steps): boolean {
  const arrivals = new Map<JsonObject, number>(found.map(({ schema }) => [schema, 0]))
  for (const targets of steps.values()) {
    for (const to of targets) arrivals.set(to, (arrivals.get(to) ?? 0) + 1)
  }
  const free = [...arrivals.keys()].filter((schema) => arrivals.get(schema) === 0)
  for (const from of free) {
    for (const to of steps.get(from) ?? []) {
      const left = (arrivals.get(to) ?? 0) - 1
      arrivals.set(to, left)
      if (left === 0) free.push(to)
    }
  }
  return free.length < arrivals.size
}

function append(map: Map<JsonObject, JsonObject[]>, key: JsonObject, value: JsonObject): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}
