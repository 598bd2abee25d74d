import { readFileSync } from 'node:fs'
import * as z from 'zod'
import type { Leg, Requirements } from './requirements.ts'

/** A scenario that is known to fail, or to pass without proving anything, and why. */
export interface Expectation {
  readonly scenario: string
  /** It passes because what it tests is not there: it has to go on passing, and is not counted. */
  readonly vacuous?: boolean | undefined
  /** The ids of the checks that fail; every other check has to pass. Without it, any failure is expected. */
  readonly checks?: readonly string[] | undefined
  readonly reason: string
}

const expectation = z.strictObject({
  scenario: z.string().min(1),
  vacuous: z.literal(true).optional(),
  checks: z.array(z.string()).min(1).optional(),
  reason: z.string().min(10),
})
const legs = z.strictObject({ server: z.array(expectation), client: z.array(expectation) })
const file = z.record(z.string(), legs)

/**
 * The expected failures of one leg at one revision, by scenario.
 *
 * @throws Error when the text is not of the form of `expected-failures.json`, or names a scenario twice.
 */
export function parseExpectedFailures(text: string, revision: string, leg: Leg): ReadonlyMap<string, Expectation> {
  const revisions = new Map(Object.entries(file.parse(JSON.parse(text))))
  const byScenario = new Map<string, Expectation>()
  for (const entry of revisions.get(revision)?.[leg] ?? []) {
    if (byScenario.has(entry.scenario)) {
      throw new Error(`expected-failures.json lists ${leg} ${revision} ${entry.scenario} twice: keep one entry`)
    }
    byScenario.set(entry.scenario, entry)
  }
  return byScenario
}

/** Reads the expected failures that lie beside this package. */
export function readExpectedFailures(revision: string, leg: Leg): ReadonlyMap<string, Expectation> {
  const path = new URL('../expected-failures.json', import.meta.url)
  return parseExpectedFailures(readFileSync(path, 'utf8'), revision, leg)
}

/** Entries for scenarios that the suite does not have: they would never turn stale by themselves. */
export function unknownExpectations(
  expected: ReadonlyMap<string, Expectation>,
  { scored, others }: Requirements,
): readonly string[] {
  const known = new Set([...scored, ...others])
  return [...expected.keys()].filter((scenario) => !known.has(scenario))
}
