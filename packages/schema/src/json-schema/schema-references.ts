import { isJsonObject, type JsonObject, type JsonValue, quoteText } from '@x/core'
import { schemaBounds, type Subschema } from './subschemas.ts'

/**
 * Finds the first reference that leaves the schema or names no schema, or a cycle of references that never descends
 * into the value, which a validator would follow forever.
 */
export function findReferenceProblem(allSubschemas: readonly Subschema[]): string | undefined {
  const document = createSchemaDocument(allSubschemas)
  for (const subschema of allSubschemas) {
    for (const [keyword, reference] of referencesOf(subschema.schema)) {
      const target = resolveSchemaReference(document, subschema, reference)
      if (typeof target === 'string') return `its ${keyword} ${quoteText(reference)} ${target}`
    }
  }
  return hasCycle(allSubschemas, collectInPlaceSteps(allSubschemas, document))
    ? 'its references form a cycle'
    : undefined
}

function referencesOf({ $ref, $dynamicRef }: JsonObject): [string, string][] {
  const references: [string, string][] = []
  if (typeof $ref === 'string') references.push(['$ref', $ref])
  if (typeof $dynamicRef === 'string') references.push(['$dynamicRef', $dynamicRef])
  return references
}

interface SchemaDocument {
  readonly root: JsonObject
  readonly anchors: ReadonlyMap<string, JsonObject>
  readonly schemas: ReadonlySet<JsonValue>
}

function createSchemaDocument(allSubschemas: readonly Subschema[]): SchemaDocument {
  const anchors = new Map<string, JsonObject>()
  for (const { schema } of allSubschemas) {
    for (const anchor of [schema['$anchor'], schema['$dynamicAnchor']]) {
      if (typeof anchor === 'string') anchors.set(anchor, schema)
    }
  }
  return { root: allSubschemas[0]?.schema ?? {}, anchors, schemas: new Set(allSubschemas.map(({ schema }) => schema)) }
}

/** A text says why a reference cannot be resolved. Nothing is ever fetched. */
function resolveSchemaReference(
  document: SchemaDocument,
  referrer: Subschema,
  reference: string,
): JsonObject | boolean | string {
  if (!reference.startsWith('#'))
    return 'leaves the schema; only references within it, such as #/$defs/name, are followed'
  if (isEmbedded(referrer)) return 'is in a part with an $id of its own, where a # means that part; remove the $id'
  const fragment = decodeFragment(reference)
  if (fragment === undefined) return 'is not well-formed'
  const target =
    fragment === '' || fragment.startsWith('/')
      ? resolvePointer(document.root, fragment)
      : document.anchors.get(fragment)
  if (typeof target === 'boolean') return target
  return isJsonObject(target) && document.schemas.has(target) ? target : 'leads to no schema within it'
}

function isEmbedded(subschema: Subschema): boolean {
  for (let ancestor: Subschema | undefined = subschema; ancestor?.parent !== undefined; ancestor = ancestor.parent) {
    if (Object.hasOwn(ancestor.schema, '$id')) return true
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

/** Beside a reference, they say nothing about which values are valid. */
const annotationKeywords: ReadonlySet<string> = new Set(
  '$schema $defs definitions $comment title description default examples deprecated readOnly writeOnly'.split(' '),
)

/** Follows the `$ref` of a schema. Undefined without one, and for one that leads to no object within the root. */
export function resolveReference({ $ref }: JsonObject, root: JsonObject): JsonObject | undefined {
  const fragment = typeof $ref === 'string' && /^#(?:$|\/)/.test($ref) ? decodeFragment($ref) : undefined
  const target = fragment === undefined ? undefined : resolvePointer(root, fragment)
  return isJsonObject(target) ? target : undefined
}

/**
 * Puts the schema to which a root refers in place of the reference, and keeps `$defs`, so that readers that look at the
 * `type` of the root find it. A library writes such a root for a schema with an id. Any other schema is returned
 * unchanged.
 */
export function withoutRootReference(schema: JsonObject): JsonObject {
  let resolved = schema
  // Ends a cycle of references, which findSchemaProblem reports.
  for (let count = 0; count < schemaBounds.depth; count += 1) {
    const target = resolveReference(resolved, schema)
    const { $ref: _reference, type, ...siblings } = resolved
    const isOnlyAnnotated = Object.keys(siblings).every((keyword) => annotationKeywords.has(keyword))
    if (target === undefined || !isOnlyAnnotated || (type !== undefined && type !== target['type'])) break
    resolved = { ...target, ...siblings }
  }
  return resolved
}

/** RFC 6901. Follows only own members of objects. */
function resolvePointer(root: JsonObject, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = root
  for (const pointerToken of pointer.split('/').slice(1)) {
    const key = pointerToken.replaceAll('~1', '/').replaceAll('~0', '~')
    value = memberAt(value, key)
  }
  return value
}

function memberAt(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^(?:0|[1-9][0-9]{0,8})$/.test(key) ? value[Number(key)] : undefined
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Their subschemas apply to the same value as the schema that contains them. */
const inPlaceKeywords: ReadonlySet<string> = new Set(
  'allOf anyOf oneOf not if then else dependentSchemas dependencies'.split(' '),
)

type InPlaceSteps = ReadonlyMap<JsonObject, readonly JsonObject[]>

function collectInPlaceSteps(allSubschemas: readonly Subschema[], document: SchemaDocument): InPlaceSteps {
  const inPlaceSteps = new Map<JsonObject, JsonObject[]>()
  for (const subschema of allSubschemas) {
    const { schema, parent, keyword } = subschema
    if (parent !== undefined && inPlaceKeywords.has(keyword)) appendTo(inPlaceSteps, parent.schema, schema)
    for (const [, reference] of referencesOf(schema)) {
      const target = resolveSchemaReference(document, subschema, reference)
      if (isJsonObject(target)) appendTo(inPlaceSteps, schema, target)
    }
  }
  return inPlaceSteps
}

/** Removes schemas without incoming steps, one after another. What remains contains a cycle. */
function hasCycle(allSubschemas: readonly Subschema[], inPlaceSteps: InPlaceSteps): boolean {
  const incomingCounts = new Map<JsonObject, number>(allSubschemas.map(({ schema }) => [schema, 0]))
  for (const targets of inPlaceSteps.values()) {
    for (const targetSchema of targets) incomingCounts.set(targetSchema, (incomingCounts.get(targetSchema) ?? 0) + 1)
  }
  const unreferencedSchemas = [...incomingCounts.keys()].filter((schema) => incomingCounts.get(schema) === 0)
  for (const sourceSchema of unreferencedSchemas) {
    for (const targetSchema of inPlaceSteps.get(sourceSchema) ?? []) {
      const remainingCount = (incomingCounts.get(targetSchema) ?? 0) - 1
      incomingCounts.set(targetSchema, remainingCount)
      if (remainingCount === 0) unreferencedSchemas.push(targetSchema)
    }
  }
  return unreferencedSchemas.length < incomingCounts.size
}

function appendTo(map: Map<JsonObject, JsonObject[]>, key: JsonObject, value: JsonObject): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}
