import type { Subschema } from './subschemas.ts'

/** Schema applications for a small value, which take about a tenth of a second. */
const minSteps = 30_000

/** Each element of a value adds so many, up to {@link maxSteps}: a long list needs them even with a cheap schema. */
const stepsPerElement = 64

const maxSteps = 300_000

/** After so many schema applications, the validation of a value stops. */
export function maximumStepsFor(value: unknown): number {
  return Math.min(maxSteps, minSteps + stepsPerElement * countValueElements(value, { pairs: 0 }))
}

const maxComparedPairs = 20_000_000

/** A value needs too much work. */
export const workLimitError = new Error('validating it takes too much work')

/**
 * Makes every application of a subschema count against the budget, which is what is left for the whole schema. The
 * validator reads `$recursiveAnchor` of a schema once per application, and this keyword means nothing in a supported
 * dialect, so a getter for it counts the applications. Limits of depth and of the number of subschemas do not bound
 * the cost of a recursive `anyOf` (basic/index, composition keywords).
 */
export function chargeAllSteps(allSubschemas: readonly Subschema[], budget: { remainingSteps: number }): void {
  for (const { schema } of allSubschemas) chargeSteps(schema, 1 + Math.floor(countEntries(schema) / 16), budget)
}

function chargeSteps(schema: object, weight: number, budget: { remainingSteps: number }): void {
  Object.defineProperty(schema, '$recursiveAnchor', {
    get: () => {
      budget.remainingSteps -= weight
      if (budget.remainingSteps < 0) throw workLimitError
    },
  })
}

/** Entries of a schema's keywords, such as the values of an `enum`, measure the work of one application. */
function countEntries(schema: object): number {
  let entryCount = 0
  for (const value of Object.values(schema)) {
    if (typeof value === 'object' && value !== null)
      entryCount += Array.isArray(value) ? value.length : Object.keys(value).length
  }
  return entryCount
}

/**
 * Throws {@link workLimitError} for a value that needs too many comparisons: `uniqueItems` compares all pairs of items,
 * and `patternProperties` matches all patterns against all keys. `undefined` for a schema with neither keyword.
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

function countValueElements(value: unknown, pairCounter: { pairs: number }): number {
  if (typeof value !== 'object' || value === null) return 1
  let elementCount = 1
  const members = Array.isArray(value) ? value : Object.values(value)
  for (const member of members) elementCount += countValueElements(member, pairCounter)
  if (Array.isArray(value)) pairCounter.pairs += value.length * elementCount
  return elementCount
}
