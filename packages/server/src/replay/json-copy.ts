import { copyJson, type JsonProblem, type JsonRules } from '@x/core'
import type { JsonValue } from '@x/schema'

/** The rules of a recorded value. */
const recordedRules: JsonRules = { maxDepth: 100, acceptsObject: isPlainObject, rejectsUndefined: true }

/**
 * A copy of a value that is JSON through and through, or what in it is not. Nothing is dropped or converted on the way:
 * a later run must see the very same as the run that made it.
 */
export function tryCopyJson(value: unknown): { readonly value: JsonValue } | { readonly reason: string } {
  const copy = copyJson(value, recordedRules)
  return 'problem' in copy ? { reason: describeProblem(copy.problem) } : copy
}

/** The prototype of plain objects stands at the top; that of another realm is another object. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function describeProblem({ path, reason, value }: JsonProblem): string {
  const pointer = path.map((key) => `/${key}`).join('')
  if (reason === 'too_deep') return `${pointer.slice(0, 200)}… is deeper than ${recordedRules.maxDepth} levels`
  return `${pointer === '' ? 'it' : `its member ${pointer}`} is ${describeValue(value)}`
}

function describeValue(value: unknown): string {
  if (value === undefined || typeof value === 'number') return String(value)
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`
  const { constructor }: { constructor?: unknown } = value
  const name = typeof constructor === 'function' ? constructor.name : ''
  return `a ${name || 'class instance'}, not a plain object`
}
