import { isJsonObject, type JsonObject } from '../basic/json.ts'
import { type Check, expected, type Failure, inItem, object, within } from './checks.ts'

/** What the parser of messages lets through; deeper values, and cycles, are refused here as well. */
const maximumDepth = 256

/** Whatever JSON can carry; members of objects may be undefined, since they are left out when it is written. */
export const json: Check = (value) => jsonFailure(value, 0)

/** An object of what JSON can carry. */
export const jsonObject: Check = (value) => object(value) ?? json(value)

function jsonFailure(value: unknown, depth: number): Failure | undefined {
  if (typeof value !== 'object' || value === null) return isScalar(value) ? undefined : expected('a JSON value', value)
  if (depth === maximumDepth) return expected(`nothing deeper than ${maximumDepth} levels`, value)
  if (Array.isArray(value)) return itemFailure(value, depth + 1)
  return isJsonObject(value) ? memberFailure(value, depth + 1) : undefined
}

function itemFailure(items: readonly unknown[], depth: number): Failure | undefined {
  for (let at = 0; at < items.length; at++) {
    const failure = jsonFailure(items[at], depth)
    if (failure !== undefined) return inItem(failure, at)
  }
  return undefined
}

function memberFailure(object: JsonObject, depth: number): Failure | undefined {
  for (const key of Object.keys(object)) {
    const member = object[key]
    const failure = member === undefined ? undefined : jsonFailure(member, depth)
    if (failure !== undefined) return within(failure, key)
  }
  return undefined
}

function isScalar(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return value === null || typeof value === 'string' || typeof value === 'boolean'
}
