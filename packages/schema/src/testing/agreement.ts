import { examples } from '@tooling/spec'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Check, Failure } from '../basic/failure.ts'
import { arbitraryOf } from './arbitrary.ts'
import { mutationsOf, mutationArbitrary } from './mutate.ts'
import { validatorOf } from './published.ts'

/** A check, and the definition by whose validator it is judged. */
export interface ValidatorPair {
  readonly definition: string
  readonly check: Check
}

/**
 * Fails unless a check takes and refuses what the validator does: values of a definition as published, each with one
 * thing wrong, and each spoilt at random places of any depth. Both what is made up and the published examples are
 * tried.
 */
export function expectAgreement(pair: ValidatorPair, made = pair.definition): void {
  const published = examples().filter(({ definition }) => definition === made)
  // They are read from files of JSON.
  const written = published.map(({ value }) => value as fc.JsonValue)
  const value = written.length === 0 ? arbitraryOf(made) : fc.oneof(arbitraryOf(made), fc.constantFrom(...written))
  const spoilings = fc.array(mutationArbitrary, { minLength: 40, maxLength: 40 })
  fc.assert(
    fc.property(value, spoilings, (valid, ways) => {
      expect(pair.check(valid)).toBeUndefined()
      for (const other of mutationsOf(valid)) expectSame(pair, other)
      for (const spoil of ways) expectSame(pair, spoil(valid))
    }),
    { numRuns: 15 },
  )
}

/** Fails unless the check and the validator of the definition say the same of a value. */
export function expectSame({ definition, check }: ValidatorPair, value: unknown): void {
  const { success } = validatorOf(definition).safeParse(value)
  const failure = check(value)
  if (success !== (failure === undefined)) {
    const verdict = failure === undefined ? 'taken' : `refused at "${failure.path}"`
    expect.fail(`zod ${success ? 'takes' : 'refuses'} ${JSON.stringify(value)}, by hand it is ${verdict}`)
  }
  if (failure !== undefined) expectCorrectFailure(failure, value)
}

/** Fails unless the value at the path of a failure is the one that the failure names. */
function expectCorrectFailure({ path, got }: Failure, value: unknown): void {
  const steps = [...path.matchAll(/\.([\w$]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g)]
  expect(steps.map(([step]) => step).join('')).toBe(path)
  const found = steps.reduce<unknown>((holder, [, plain, index, quoted]) => {
    return Object(holder)[plain ?? index ?? JSON.parse(quoted ?? '')]
  }, value)
  expect(got).toBe(kindOf(found))
}

function kindOf(value: unknown): string {
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return kinds.get(kind) ?? `a ${kind}`
}

const kinds: ReadonlyMap<string, string> = new Map([
  ['undefined', 'nothing'],
  ['null', 'null'],
  ['array', 'an array'],
  ['object', 'an object'],
])
