import { StateUsageError } from '../state-error.ts'
import { deepest } from './canonical-json.ts'

/** What JSON cannot carry, and where; the path is filled in from the end. */
interface Fault {
  readonly path: string[]
  readonly found: string
}

/**
 * Refuses what `JSON.stringify` would alter without a word: a `Date`, a `Map`, `NaN`, a function.
 *
 * @throws StateUsageError with `not_json`, naming the place.
 */
export function admitValue(value: unknown): void {
  const fault = findFault(value, 0)
  if (fault === undefined) return
  const place = fault.path.length === 0 ? 'The value' : `"${fault.path.slice(0, 8).join('.').slice(0, 200)}"`
  throw new StateUsageError(
    'not_json',
    `${place} is ${fault.found}, which a state cannot carry: turn it into plain JSON`,
  )
}

function findFault(value: unknown, depth: number): Fault | undefined {
  if (depth > deepest) return { path: [], found: `nested deeper than ${deepest} levels` }
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : { path: [], found: String(value) }
    case 'object':
      return value === null ? undefined : objectFault(value, depth)
    default:
      return { path: [], found: typeof value }
  }
}

function objectFault(value: object, depth: number): Fault | undefined {
  const isArray = Array.isArray(value)
  if (!isArray && !isPlain(value)) return { path: [], found: `a ${value.constructor?.name ?? 'class instance'}` }
  return isArray ? itemFault(value, depth) : memberFault(value, depth)
}

function itemFault(items: readonly unknown[], depth: number): Fault | undefined {
  // By its length, which counts holes: JSON would turn those into null.
  for (let index = 0; index < items.length; index++) {
    const fault = findFault(items[index], depth + 1)
    if (fault === undefined) continue
    fault.path.unshift(String(index))
    return fault
  }
  return undefined
}

function memberFault(members: object, depth: number): Fault | undefined {
  for (const key of Object.keys(members)) {
    const member: unknown = Reflect.get(members, key)
    const fault = member === undefined ? undefined : findFault(member, depth + 1)
    if (fault === undefined) continue
    fault.path.unshift(key)
    return fault
  }
  return undefined
}

/** Objects from another realm (a worker, a test runner) have an `Object.prototype` of their own. */
function isPlain(value: object): boolean {
  // `getPrototypeOf` is typed as any.
  const prototype: object | null = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty')
}
