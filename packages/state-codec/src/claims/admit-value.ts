import { StateUsageError } from '../state-error.ts'
import { deepest } from './canonical-json.ts'

/**
 * Refuses what `JSON.stringify` would alter without a word: a `Date`, a `Map`, `NaN`, a function.
 *
 * @throws StateUsageError with `not_json`, naming the place.
 */
export function admitValue(value: unknown, path: readonly string[] = []): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return
  if (typeof value === 'number' && Number.isFinite(value)) return
  if (typeof value !== 'object') throw refusal(path, typeof value === 'number' ? String(value) : typeof value)
  if (path.length >= deepest) throw refusal(path.slice(0, 3), `nesting deeper than ${deepest} levels`)
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) admitValue(item, [...path, String(index)])
    return
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype && !isForeignPlain(prototype)) {
    throw refusal(path, `a ${value.constructor?.name ?? 'class instance'}`)
  }
  for (const [key, member] of Object.entries(value)) if (member !== undefined) admitValue(member, [...path, key])
}

/** Test runners and workers have an `Object` of their own. */
function isForeignPlain(prototype: unknown): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype ?? {}, 'hasOwnProperty')
}

function refusal(path: readonly string[], found: string): StateUsageError {
  const place = path.length === 0 ? 'The value' : `"${path.join('.').slice(0, 200)}"`
  return new StateUsageError(
    'not_json',
    `${place} holds ${found}, which JSON cannot carry: turn it into a string first`,
  )
}
