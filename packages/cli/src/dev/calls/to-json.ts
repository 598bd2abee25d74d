import type { JsonValue } from '@x/core'

/** A copy by way of JSON has the type of JSON: the interfaces of the wire have no index signature. */
export function toJson(value: object): JsonValue {
  return JSON.parse(JSON.stringify(value))
}
