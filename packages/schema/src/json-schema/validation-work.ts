import type { Subschema } from './subschemas.ts'

/** The number of schema applications to one value after which validation stops: less than a second of work. */
export const maximumSteps = 300_000

/** The number of comparisons and matches that one validation may spend on quadratic keywords. */
const maximumPairs = 20_000_000

/** A counter of validation steps, shared by all subschemas of one schema. */
export interface StepBudget {
  remaining: number
}

/** Thrown by a validator when the budget is spent. */
export const tooMuchWork = new Error('validating it takes too much work')

/**
 * Charges every application of a subschema to the budget. The validator reads each keyword of a schema once per
 * application, and `$recursiveAnchor` has no meaning in a supported dialect, so its getter counts. Neither depth nor
 * the number of subschemas bounds the cost of a recursive `anyOf` (basic/index, composition keywords).
 */
export function countSteps(found: readonly Subschema[], budget: StepBudget): void {
  for (const { schema } of found) chargeSteps(schema, 1 + Math.floor(entriesOf(schema) / 16), budget)
}

/** Makes every application of one schema take so many steps from the budget. */
export function chargeSteps(schema: object, weight: number, budget: StepBudget): void {
  Object.defineProperty(schema, '$recursiveAnchor', {
    get: () => {
      budget.remaining -= weight
      if (budget.remaining < 0) throw tooMuchWork
    },
  })
}

/** The work of one application of a schema, such as the number of values of an `enum`. */
function entriesOf(schema: object): number {
  let entries = 0
  for (const value of Object.values(schema)) {
    if (typeof value === 'object' && value !== null)
      entries += Array.isArray(value) ? value.length : Object.keys(value).length
  }
  return entries
}

/**
 * Creates a check that throws {@link tooMuchWork} for a value whose validation is more than linear. `uniqueItems`
 * compares all pairs; `patternProperties` matches all patterns with all keys. Returns `undefined` for a schema without
 * either.
 */
export function countPairs(found: readonly Subschema[]): ((value: unknown) => void) | undefined {
  let patterns = 0
  let unique = false
  for (const { schema } of found) {
    const { patternProperties, uniqueItems } = schema
    if (typeof patternProperties === 'object' && patternProperties !== null)
      patterns += Object.keys(patternProperties).length
    unique ||= uniqueItems === true
  }
  if (!unique && patterns === 0) return undefined
  return (value) => {
    const work = { pairs: 0 }
    const elements = count(value, work)
    if ((unique && work.pairs > maximumPairs) || patterns * elements > maximumPairs) throw tooMuchWork
  }
}

/** Counts the elements of a value, itself included; `work` receives the cost of comparing the items of its arrays. */
function count(value: unknown, work: { pairs: number }): number {
  if (typeof value !== 'object' || value === null) return 1
  let elements = 1
  const members = Array.isArray(value) ? value : Object.values(value)
  for (const member of members) elements += count(member, work)
  if (Array.isArray(value)) work.pairs += value.length * elements
  return elements
}
