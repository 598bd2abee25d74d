import { findJsonProblem, isPlainObject, type JsonProblem, type JsonRules } from '@x/core'
import { StateUsageError } from '../state-error.ts'
import { maxDepth } from './canonical-json.ts'

const stateRules: JsonRules = { maxDepth, acceptsObject: isPlainObject }

/**
 * Rejects what `JSON.stringify` would change silently: a `Date`, a `Map`, `NaN`, a function.
 *
 * @throws StateUsageError with `not_json` and the path of the value.
 */
export function checkJsonValue(value: unknown): void {
  const problem = findJsonProblem(value, stateRules)
  if (problem === undefined) return
  const { path } = problem
  const location = path.length === 0 ? 'The value' : `"${path.slice(0, 8).join('.').slice(0, 200)}"`
  throw new StateUsageError(
    'not_json',
    `${location} is ${describeProblem(problem)}, which a state cannot carry: turn it into plain JSON`,
  )
}

function describeProblem({ reason, value }: JsonProblem): string {
  if (reason === 'too_deep') return `nested deeper than ${maxDepth} levels`
  if (typeof value === 'number') return String(value)
  return typeof value === 'object' ? `a ${value?.constructor?.name ?? 'class instance'}` : typeof value
}
