/** Any value that JSON can carry. */
export type JsonValue = string | number | boolean | null | JsonArray | JsonObject

/** A JSON array. */
export type JsonArray = readonly JsonValue[]

/** A JSON object. Its keys are data from a peer, so look them up with `Object.hasOwn`. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined
}

/** Tells if a value is a JSON object, and not an array or `null`. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Tells if a value is an array, and narrows JSON to one; `Array.isArray` does not narrow readonly arrays. */
export function isJsonArray(value: JsonValue | undefined): value is JsonArray {
  return Array.isArray(value)
}

/** The depth limit of the message parser. */
const maximumDepth = 256

/**
 * Tells if JSON can carry a value: no cycle, and no deeper than a message may be. Members of objects may be undefined,
 * since serialization omits them.
 */
export function isJson(value: unknown, depth = 0): value is JsonValue {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean'
  if (value === null || depth === maximumDepth) return value === null
  if (Array.isArray(value)) return areItemsJson(value, depth + 1)
  return isJsonObject(value) && areMembersJson(value, depth + 1)
}

function areItemsJson(items: readonly unknown[], depth: number): boolean {
  for (const item of items) if (!isJson(item, depth)) return false
  return true
}

function areMembersJson(object: JsonObject, depth: number): boolean {
  // Twice as fast as a list of the members; plain objects inherit nothing that this would find.
  for (const key in object) {
    const item = object[key]
    if (item !== undefined && !isJson(item, depth)) return false
  }
  return true
}
