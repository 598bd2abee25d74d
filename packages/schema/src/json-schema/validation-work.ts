import type { Subschema } from './subschemas.ts'

/** How many schemas are applied to parts of one value before validation gives up: under a second's work. */
export const maximumSteps = 300_000

/** How many comparisons and matches one validation may need for keywords that look at all pairs. */
const maximumPairs = 20_000_000

/** A count of steps that a validation takes, shared by all subschemas of one schema. */
export interface StepBudget {
  left: number
}

/** Thrown out of a validator when the budget is spent. */
export const tooMuchWork = new Error('validating it takes too much work')

/**
 * Makes every application of a subschema take from the budget. The validator reads each keyword of a schema once per
 * application, and `$recursiveAnchor` has a meaning in no dialect that is served, so that its getter is the place to count:
 * neither the depth nor the number of subschemas bounds what a recursive `anyOf` costs (basic/index, composition keywords).
 */
export function meter(found: readonly Subschema[], budget: StepBudget): void {
  for (const { schema } of found) {
    const weight = 1 + Math.floor(entriesOf(schema) / 16)
    Object.defineProperty(schema, '$recursiveAnchor', {
      get: () => {
        budget.left -= weight
        if (budget.left < 0) throw tooMuchWork
      },
    })
  }
}

/** What one application of a schema looks through, such as the values of an `enum`. */
function entriesOf(schema: object): number {
  let entries = 0
  for (const value of Object.values(schema)) {
    if (typeof value === 'object' && value !== null)
      entries += Array.isArray(value) ? value.length : Object.keys(value).length
  }
  return entries
}

/**
 * A check that throws {@link tooMuchWork} for a value whose validation is more than linear by `uniqueItems`, which compares
 * all pairs, or `patternProperties`, which tries all patterns on all keys; `undefined` when the schema has neither.
 */
export function pairwiseCheck(found: readonly Subschema[]): ((value: unknown) => void) | undefined {
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

/** The elements of a value, itself counted; `work` takes what comparing the items of its arrays with each other costs. */
function count(value: unknown, work: { pairs: number }): number {
  if (typeof value !== 'object' || value === null) return 1
  let elements = 1
  const members = Array.isArray(value) ? value : Object.values(value)
  for (const member of members) elements += count(member, work)
  if (Array.isArray(value)) work.pairs += value.length * elements
  return elements
}
