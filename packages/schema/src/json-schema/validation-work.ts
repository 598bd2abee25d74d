import type { Subschema } from './subschemas.ts'

/** The number of schema applications to a small value after which validation stops: a tenth of a second of work. */
const minSteps = 30_000

/** The applications that each element of a value adds, up to {@link maxSteps}: a long list is no expensive schema. */
const stepsPerElement = 64

const maxSteps = 300_000

/** Returns the number of schema applications to a value after which its validation stops. */
export function maximumStepsFor(value: unknown): number {
  return Math.min(maxSteps, minSteps + stepsPerElement * countValueElements(value, { pairs: 0 }))
}

/** The number of comparisons and matches that one validation may spend on quadratic keywords. */
const maxComparedPairs = 20_000_000

/** A counter of validation steps, shared by all subschemas of one schema. */
export interface StepBudget {
  remainingSteps: number
}

/** Thrown by a validator when the budget is spent. */
export const workLimitError = new Error('validating it takes too much work')

/**
 * Charges every application of a subschema to the budget. The validator reads each keyword of a schema once per
 * application, and `$recursiveAnchor` has no meaning in a supported dialect, so its getter counts. Neither depth nor
 * the number of subschemas bounds the cost of a recursive `anyOf` (basic/index, composition keywords).
 */
export function chargeAllSteps(allSubschemas: readonly Subschema[], budget: StepBudget): void {
  for (const { schema } of allSubschemas) chargeSteps(schema, 1 + Math.floor(countEntries(schema) / 16), budget)
}

/** Makes every application of one schema take so many steps from the budget. */
function chargeSteps(schema: object, weight: number, budget: StepBudget): void {
  Object.defineProperty(schema, '$recursiveAnchor', {
    get: () => {
      budget.remainingSteps -= weight
      if (budget.remainingSteps < 0) throw workLimitError
    },
  })
}

/** The work of one application of a schema, such as the number of values of an `enum`. */
function countEntries(schema: object): number {
  let entryCount = 0
  for (const value of Object.values(schema)) {
    if (typeof value === 'object' && value !== null)
      entryCount += Array.isArray(value) ? value.length : Object.keys(value).length
  }
  return entryCount
}

/**
 * Creates a check that throws {@link workLimitError} for a value whose validation is more than linear. `uniqueItems`
 * compares all pairs. `patternProperties` matches all patterns with all keys. Returns `undefined` for a schema without
 * either.
 */
export function createPairCheck(allSubschemas: readonly Subschema[]): ((value: unknown) => void) | undefined {
  let patternCount = 0
  let hasUniqueItems = false
  for (const { schema } of allSubschemas) {
    const { patternProperties, uniqueItems } = schema
    if (typeof patternProperties === 'object' && patternProperties !== null)
      patternCount += Object.keys(patternProperties).length
    hasUniqueItems ||= uniqueItems === true
  }
  if (!hasUniqueItems && patternCount === 0) return undefined
  return (value) => {
    const pairCounter = { pairs: 0 }
    const elementCount = countValueElements(value, pairCounter)
    if ((hasUniqueItems && pairCounter.pairs > maxComparedPairs) || patternCount * elementCount > maxComparedPairs)
      throw workLimitError
  }
}

/** Counts the elements of a value, itself included. `work` receives the cost of comparing the items of its arrays. */
function countValueElements(value: unknown, pairCounter: { pairs: number }): number {
  if (typeof value !== 'object' || value === null) return 1
  let elementCount = 1
  const members = Array.isArray(value) ? value : Object.values(value)
  for (const member of members) elementCount += countValueElements(member, pairCounter)
  if (Array.isArray(value)) pairCounter.pairs += value.length * elementCount
  return elementCount
}
