/** Any value that JSON can carry. */
export type JsonValue = string | number | boolean | null | JsonArray | JsonObject

/** A JSON array. */
export type JsonArray = readonly JsonValue[]

/** A JSON object; members that are `undefined` are left out, as `JSON.stringify` does. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined
}
