import { StateUsageError } from '../state-error.ts'
import { maxDepth } from './canonical-json.ts'

/** A value that JSON cannot carry, with its path. */
interface JsonProblem {
  readonly path: string[]
  readonly found: string
}

/**
 * Rejects values that `JSON.stringify` would change silently: a `Date`, a `Map`, `NaN`, a function.
 *
 * @throws StateUsageError with `not_json` and the path of the value.
 */
export function checkJsonValue(value: unknown): void {
  const problem = findProblem(value, 0)
  if (problem === undefined) return
  const location = problem.path.length === 0 ? 'The value' : `"${problem.path.slice(0, 8).join('.').slice(0, 200)}"`
  throw new StateUsageError(
    'not_json',
    `${location} is ${problem.found}, which a state cannot carry: turn it into plain JSON`,
  )
}

function findProblem(value: unknown, depth: number): JsonProblem | undefined {
  if (depth > maxDepth) return { path: [], found: `nested deeper than ${maxDepth} levels` }
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : { path: [], found: String(value) }
    case 'object':
      return value === null ? undefined : findObjectProblem(value, depth)
    default:
      return { path: [], found: typeof value }
  }
}

function findObjectProblem(value: object, depth: number): JsonProblem | undefined {
  const isArray = Array.isArray(value)
  if (!isArray && !isPlainObject(value)) return { path: [], found: `a ${value.constructor?.name ?? 'class instance'}` }
  return isArray ? findItemProblem(value, depth) : findMemberProblem(value, depth)
}

function findItemProblem(items: readonly unknown[], depth: number): JsonProblem | undefined {
  // Indexing by length visits holes too; JSON would turn them into null.
  for (let index = 0; index < items.length; index++) {
    const problem = findProblem(items[index], depth + 1)
    if (problem === undefined) continue
    problem.path.unshift(String(index))
    return problem
  }
  return undefined
}

function findMemberProblem(members: object, depth: number): JsonProblem | undefined {
  for (const key of Object.keys(members)) {
    const member: unknown = Reflect.get(members, key)
    const problem = member === undefined ? undefined : findProblem(member, depth + 1)
    if (problem === undefined) continue
    problem.path.unshift(key)
    return problem
  }
  return undefined
}

/** Objects from another realm (a worker, a test runner) have an `Object.prototype` of their own. */
function isPlainObject(value: object): boolean {
  // `getPrototypeOf` is typed as any.
  const prototype: object | null = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty')
}
