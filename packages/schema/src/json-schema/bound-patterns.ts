import { isJsonObject, type JsonObject } from '../basic/json.ts'
import { costOfPattern, longestText, type PatternCost } from './pattern-cost.ts'
import { UnboundedPattern } from './pattern-parser.ts'
import type { Subschema } from './subschemas.ts'
import { type StepBudget, chargeSteps } from './validation-work.ts'

/** Steps of a matcher for one text: some hundredths of a second. */
const stepsPerText = 10_000_000

/** Steps of a matcher that weigh as much as applying one schema. */
const stepsPerWeight = 100

/** Texts that are shorter are none too long for any expression that is taken. */
const shortText = 64

/** Steps that the analysis of a schema's expressions may take in all: under a second's work. */
const analysisSteps = 3_000_000

/**
 * Bounds the time that the regular expressions of a schema take, which may come from whoever attacks: `pattern` and the keys of
 * `patternProperties` run on the platform's backtracking matcher, so that each is analysed before, and its matches take from the budget
 * by the length of the text. A text that would take too long is not matched, and its validation ends as one of a value that is too large.
 * The schemas are changed, and are the caller's own. Returns why the schema is refused: an expression that takes a time that grows
 * exponentially, or too long for texts of 64 characters.
 */
export function boundPatterns(found: readonly Subschema[], budget: StepBudget): string | undefined {
  const analysis = { remaining: analysisSteps }
  const costOf = (pattern: string): PatternCost => {
    const cost = costOfPattern(pattern, analysis)
    if (longestText(cost, stepsPerText) >= shortText) return cost
    throw new UnboundedPattern('takes a time that grows too fast with the text')
  }
  for (const { schema, pointer } of found) {
    for (const { expression, add } of expressionsOf(schema, budget)) {
      const problem = patternProblem(() => add(costOf(expression)))
      if (problem === undefined) continue
      const shown = JSON.stringify(expression.slice(0, 100))
      return `its pattern ${shown} ${problem} (at ${pointer === '' ? 'the root' : pointer})`
    }
  }
  return undefined
}

function patternProblem(work: () => void): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof UnboundedPattern) return error.message
    throw error
  }
}

/** A regular expression of a schema, and how its bound becomes a part of the schema. */
interface Expression {
  readonly expression: string
  readonly add: (cost: PatternCost) => void
}

function expressionsOf(schema: JsonObject, budget: StepBudget): readonly Expression[] {
  const { pattern, patternProperties } = schema
  const keys = isJsonObject(patternProperties) ? Object.keys(patternProperties) : []
  const expressions = keys.map(
    (expression): Expression => ({
      expression,
      add: (cost) => addCheck(schema, { propertyNames: boundLength({}, cost, budget) }),
    }),
  )
  if (typeof pattern !== 'string') return expressions
  const add = (cost: PatternCost): void => movePattern(schema, boundLength({ pattern }, cost, budget))
  return [{ expression: pattern, add }, ...expressions]
}

type OwnSchema = { [keyword: string]: unknown }

function movePattern(schema: JsonObject, check: OwnSchema): void {
  // The schema is a copy, which is its caller's own until it is compiled.
  delete (schema as OwnSchema)['pattern']
  addCheck(schema, check)
}

function addCheck(schema: JsonObject, check: OwnSchema): void {
  const { allOf } = schema
  ;(schema as OwnSchema)['allOf'] = [...(Array.isArray(allOf) ? allOf : []), check]
}

/**
 * A schema that is applied to texts up to the longest that may be matched, and weighs what matching texts of their length takes at most.
 * The validator has no place for a function of the text, so that the lengths are steps of `if` and `minLength`.
 */
function boundLength(schema: OwnSchema, cost: PatternCost, budget: StepBudget): OwnSchema {
  const longest = longestText(cost, stepsPerText)
  const lengths = [longest]
  for (let length = shortText; length < longest; length *= 4) lengths.push(length)
  let check: OwnSchema = {}
  chargeSteps(check, Infinity, budget)
  for (const length of lengths.toSorted((a, b) => b - a)) {
    const applied = { ...schema }
    chargeSteps(applied, 1 + Math.floor((cost.factor * length ** cost.degree) / stepsPerWeight), budget)
    const upTo = { if: { type: 'string', minLength: length + 1 }, else: applied }
    check = { allOf: [upTo, { if: { maxLength: length }, else: check }] }
  }
  return check
}
