import { isJsonObject, type JsonObject } from '@x/core'
import { costOfPattern, maxTextLengthOf, type PatternCost } from './pattern-cost.ts'
import { UnboundedPatternError } from './pattern-parser.ts'
import type { Subschema } from './subschemas.ts'
import { type StepBudget, chargeSteps } from './validation-work.ts'

/** Steps of a matcher for one text: some hundredths of a second. */
const maxStepsPerText = 10_000_000

/** Steps of a matcher that weigh as much as applying one schema. */
const stepsPerWeight = 100

/** Texts that are shorter are none too long for any expression that is taken. */
const shortTextLength = 64

/** Steps that the analysis of a schema's expressions may take in all: under a second's work. */
const maxAnalysisSteps = 3_000_000

/**
 * Bounds the time that the regular expressions of a schema take, which may come from an attacker: `pattern` and the
 * keys of `patternProperties` run on the platform's backtracking matcher, so that each is analysed before, and its
 * matches take from the budget by the length of the text. A text that would take too long is not matched, and its
 * validation ends as one of a value that is too large. The schemas are changed, and are the caller's own. Returns why
 * the schema is refused: an expression that takes a time that grows exponentially, or too long for texts of 64
 * characters.
 */
export function boundPatterns(allSubschemas: readonly Subschema[], budget: StepBudget): string | undefined {
  const analysisBudget = { remainingSteps: maxAnalysisSteps }
  const requireCost = (pattern: string): PatternCost => {
    const cost = costOfPattern(pattern, analysisBudget)
    if (maxTextLengthOf(cost, maxStepsPerText) >= shortTextLength) return cost
    throw new UnboundedPatternError('takes a time that grows too fast with the text')
  }
  for (const { schema, pointer } of allSubschemas) {
    for (const { expression, addLengthBound } of expressionsOf(schema, budget)) {
      const problem = catchPatternProblem(() => addLengthBound(requireCost(expression)))
      if (problem === undefined) continue
      const shownPattern = JSON.stringify(expression.slice(0, 100))
      return `its pattern ${shownPattern} ${problem} (at ${pointer === '' ? 'the root' : pointer})`
    }
  }
  return undefined
}

function catchPatternProblem(addBound: () => void): string | undefined {
  try {
    addBound()
    return undefined
  } catch (error) {
    if (error instanceof UnboundedPatternError) return error.message
    throw error
  }
}

/** A regular expression of a schema, and how its bound becomes a part of the schema. */
interface PatternExpression {
  readonly expression: string
  readonly addLengthBound: (cost: PatternCost) => void
}

function expressionsOf(schema: JsonObject, budget: StepBudget): readonly PatternExpression[] {
  const { pattern, patternProperties } = schema
  const keys = isJsonObject(patternProperties) ? Object.keys(patternProperties) : []
  const expressions = keys.map(
    (expression): PatternExpression => ({
      expression,
      addLengthBound: (cost) => addConstraint(schema, { propertyNames: createLengthBound({}, cost, budget) }),
    }),
  )
  if (typeof pattern !== 'string') return expressions
  const addLengthBound = (cost: PatternCost): void => movePattern(schema, createLengthBound({ pattern }, cost, budget))
  return [{ expression: pattern, addLengthBound }, ...expressions]
}

type MutableSchema = { [keyword: string]: unknown }

function movePattern(schema: JsonObject, constraint: MutableSchema): void {
  // The schema is a copy, which is its caller's own until it is compiled.
  delete (schema as MutableSchema)['pattern']
  addConstraint(schema, constraint)
}

function addConstraint(schema: JsonObject, constraint: MutableSchema): void {
  const { allOf } = schema
  ;(schema as MutableSchema)['allOf'] = [...(Array.isArray(allOf) ? allOf : []), constraint]
}

/**
 * A schema that is applied to texts up to the longest that may be matched, and weighs what matching texts of their
 * length takes at most. The validator has no place for a function of the text, so that the lengths are steps of `if`
 * and `minLength`.
 */
function createLengthBound(schema: MutableSchema, cost: PatternCost, budget: StepBudget): MutableSchema {
  const longestLength = maxTextLengthOf(cost, maxStepsPerText)
  const lengthLimits = [longestLength]
  for (let length = shortTextLength; length < longestLength; length *= 4) lengthLimits.push(length)
  let constraint: MutableSchema = {}
  chargeSteps(constraint, Infinity, budget)
  for (const length of lengthLimits.toSorted((a, b) => b - a)) {
    const appliedSchema = { ...schema }
    chargeSteps(appliedSchema, 1 + Math.floor((cost.factor * length ** cost.degree) / stepsPerWeight), budget)
    const schemaUpToLength = { if: { type: 'string', minLength: length + 1 }, else: appliedSchema }
    constraint = { allOf: [schemaUpToLength, { if: { maxLength: length }, else: constraint }] }
  }
  return constraint
}
