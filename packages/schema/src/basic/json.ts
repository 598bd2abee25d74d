/** Any value that JSON can carry. */
export type JsonValue = string | number | boolean | null | JsonArray | JsonObject

/** A JSON array. */
export type JsonArray = readonly JsonValue[]

/** A JSON object: its keys are data from a peer, so look them up with `Object.hasOwn`. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined
}

/** Whether a value is a JSON object, and not an array or `null`. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
