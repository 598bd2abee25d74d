import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import type { Awaitable } from '../request/awaitable.ts'
import type { CheckedValue } from './issues.ts'

/** The elements that the arguments of one call may have by default. */
export const defaultMaxElements = 10_000

/** The issues that a validator may be made to produce where it cannot be stopped at the first ones. */
const maxIssues = 10_000

/** The number of possible issues up to which a validator runs at once: producing them all costs little. */
const fewIssues = 200

type Check = (value: unknown) => Awaitable<CheckedValue>

/** A schema's check, and what bounds its cost. */
export interface CheckBounds {
  /** The values in arrays and members of objects that are accepted. */
  readonly maxElements: number
  /** The schema as clients see it. */
  readonly json: JsonObject
  /** Finds the first issues of a value without producing the others; an empty list says nothing. */
  readonly findFirst?: ((value: unknown) => CheckedValue | undefined) | undefined
  /** True where no value makes the validator produce many issues once `findFirst` has found none. */
  readonly stopsEarly: boolean
}

/**
 * Bounds the cost of rejecting a value. A validator that lists every fault takes thousands of times longer for a value that
 * is nothing but faults than for a valid one of the same size (CVE-2026-111768).
 *
 * A value with few elements goes straight to the validator.
 */
export function boundedCheck(check: Check, { maxElements, json, findFirst, stopsEarly }: CheckBounds): Check {
  const required = maxRequired(json)
  return (value) => {
    const size: Size = { elements: 0, issues: 0, maxElements, required }
    countElements(value, size)
    if (size.elements > maxElements) return tooManyElements(`more than ${maxElements} elements; send fewer`)
    if (size.issues <= fewIssues) return check(value)
    const found = findFirst?.(value)
    if (found !== undefined) return found
    if (!stopsEarly && size.issues > maxIssues)
      return tooManyElements(`more than ${maxIssues} possible faults; send fewer elements`)
    return check(value)
  }
}

function tooManyElements(problem: string): CheckedValue {
  const message = `It has ${problem}. Values in arrays and members of objects count as elements.`
  return { issues: [{ path: '', message }] }
}

interface Size {
  elements: number
  /** The most issues that a validator could find: one for each element, and one for each required member that is missing. */
  issues: number
  readonly maxElements: number
  readonly required: number
}

/** Counts the elements of a value, and stops past the bound. */
function countElements(value: unknown, size: Size): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    size.elements += value.length
    size.issues += value.length
    for (const item of value) {
      if (size.elements > size.maxElements) return
      if (typeof item === 'object') countElements(item, size)
    }
    return
  }
  let members = 0
  // No list of the members is made: nearly every call is small, and passes here.
  for (const key in value) {
    members++
    if (++size.elements > size.maxElements) return
    // Any object may be asked for its own members.
    const member: unknown = (value as Readonly<Record<string, unknown>>)[key]
    if (typeof member === 'object') countElements(member, size)
  }
  size.issues += Math.max(members, size.required)
}

/** The most members that one object can lack: those that a schema requires, over all of its alternatives. */
function maxRequired(json: JsonObject): number {
  const weights = new Map<JsonObject, number>()
  let most = 0
  const pending: (JsonValue | undefined)[] = [json]
  while (pending.length > 0) {
    const value = pending.pop()
    if (isJsonObject(value)) most = Math.max(most, requiredBy(value, json, weights))
    if (typeof value === 'object' && value !== null) pending.push(...Object.values(value))
  }
  return most
}

function requiredBy(schema: JsonObject, root: JsonObject, weights: Map<JsonObject, number>): number {
  const known = weights.get(schema)
  if (known !== undefined) return known
  // Stands while the schema is looked at, so that a reference to itself ends.
  weights.set(schema, 0)
  const { required, anyOf, oneOf, allOf, $ref } = schema
  let weight = Array.isArray(required) ? required.length : 0
  for (const part of [anyOf, oneOf, allOf, typeof $ref === 'string' ? [resolveReference($ref, root)] : []]) {
    for (const branch of Array.isArray(part) ? part : []) {
      if (isJsonObject(branch)) weight += requiredBy(branch, root, weights)
    }
  }
  weights.set(schema, weight)
  return weight
}

/** The part of a schema that a local reference names. */
function resolveReference(reference: string, root: JsonObject): JsonValue | undefined {
  let found: JsonValue | undefined = root
  for (const step of reference.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined
  }
  return found
}
