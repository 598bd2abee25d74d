import { readFileSync } from 'node:fs'
import * as z from 'zod'
import type { Leg, Requirements } from './requirements.ts'

/** A scenario that is known to fail, or to pass without proof, with the reason. */
export interface Expectation {
  readonly scenario: string
  /** True if it passes only because the tested feature is absent. It must pass, and is not counted. */
  readonly vacuous?: boolean | undefined
  /** The ids of the checks that fail. Every other check must pass. Without this list any failure is expected. */
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
 * Parses the expected failures of one leg at one revision, by scenario.
 *
 * @throws Error if the text is not valid, or lists a scenario twice.
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

/** Reads the expected failures of this package. */
export function readExpectedFailures(revision: string, leg: Leg): ReadonlyMap<string, Expectation> {
  const path = new URL('../expected-failures.json', import.meta.url)
  return parseExpectedFailures(readFileSync(path, 'utf8'), revision, leg)
}

/** Returns the entries whose scenario the suite does not have. They are never reported as stale. */
export function unknownExpectations(
  expected: ReadonlyMap<string, Expectation>,
  { scored, others }: Requirements,
): readonly string[] {
  const known = new Set([...scored, ...others])
  return [...expected.keys()].filter((scenario) => !known.has(scenario))
}
