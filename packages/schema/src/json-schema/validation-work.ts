import type { Subschema } from './subschemas.ts'

/**
 * The number of schema applications after which the validation of a small value stops. They take about a tenth of a
 * second.
 */
const minSteps = 30_000

/**
 * The number of schema applications that each element of a value adds to the limit, up to {@link maxSteps}. A long list
 * needs many of them even with a cheap schema.
 */
const stepsPerElement = 64

const maxSteps = 300_000

/** Returns the number of schema applications after which the validation of a value stops. */
export function maximumStepsFor(value: unknown): number {
  return Math.min(maxSteps, minSteps + stepsPerElement * countValueElements(value, { pairs: 0 }))
}

/** The number of comparisons that one validation may make for `uniqueItems` or `patternProperties`. */
const maxComparedPairs = 20_000_000

/** The remaining validation steps of one schema, including all its subschemas. */
export interface StepBudget {
  remainingSteps: number
}

/** The error that a validator throws when a value needs too much work. */
export const workLimitError = new Error('validating it takes too much work')

/**
 * Makes every application of a subschema count against the budget. The validator reads `$recursiveAnchor` of a schema
 * once per application, and this keyword has no meaning in a supported dialect. A getter for the keyword therefore
 * counts the applications. The limits of depth and of the number of subschemas do not bound the cost of a recursive
 * `anyOf` (basic/index, composition keywords).
 */
export function chargeAllSteps(allSubschemas: readonly Subschema[], budget: StepBudget): void {
  for (const { schema } of allSubschemas) chargeSteps(schema, 1 + Math.floor(countEntries(schema) / 16), budget)
}

/** Makes every application of one schema take `weight` steps from the budget. */
function chargeSteps(schema: object, weight: number, budget: StepBudget): void {
  Object.defineProperty(schema, '$recursiveAnchor', {
    get: () => {
      budget.remainingSteps -= weight
      if (budget.remainingSteps < 0) throw workLimitError
    },
  })
}

/**
 * Counts the entries of a schema's keywords, such as the values of an `enum`, as a measure of the work of one
 * application.
 */
function countEntries(schema: object): number {
  let entryCount = 0
  for (const value of Object.values(schema)) {
    if (typeof value === 'object' && value !== null)
      entryCount += Array.isArray(value) ? value.length : Object.keys(value).length
  }
  return entryCount
}

/**
 * Creates a check that throws {@link workLimitError} for a value that needs too many comparisons. `uniqueItems`
 * compares all pairs of items, and `patternProperties` matches all patterns against all keys. Returns `undefined` for a
 * schema with neither keyword.
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

/**
 * Counts the elements of a value, including the value itself. Adds the number of comparisons between the items of its
 * arrays to `pairCounter`.
 */
function countValueElements(value: unknown, pairCounter: { pairs: number }): number {
  if (typeof value !== 'object' || value === null) return 1
  let elementCount = 1
  const members = Array.isArray(value) ? value : Object.values(value)
  for (const member of members) elementCount += countValueElements(member, pairCounter)
  if (Array.isArray(value)) pairCounter.pairs += value.length * elementCount
  return elementCount
}
