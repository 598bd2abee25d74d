import { examples } from '@tooling/spec'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Check, Failure } from '../basic/failure.ts'
import { arbitraryOf } from './arbitrary.ts'
import { mutationsOf, mutationArbitrary } from './mutate.ts'
import { validatorOf } from './published.ts'

/** A check, and the published definition with whose validator it is compared. */
export interface ValidatorPair {
  readonly definition: string
  readonly check: Check
}

/**
 * Fails unless a check and the validator accept the same values. They are made from a definition or taken from the
 * published examples, and tried unchanged, with one change at each place, and with random changes at any depth.
 */
export function expectAgreement(pair: ValidatorPair, made = pair.definition): void {
  const published = examples().filter(({ definition }) => definition === made)
  // The examples are read from JSON files.
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

/** Fails unless the check and the definition's validator agree about a value. */
export function expectSame({ definition, check }: ValidatorPair, value: unknown): void {
  const { success } = validatorOf(definition).safeParse(value)
  const failure = check(value)
  if (success !== (failure === undefined)) {
    const verdict = failure === undefined ? 'taken' : `refused at "${failure.path}"`
    expect.fail(`zod ${success ? 'takes' : 'refuses'} ${JSON.stringify(value)}, by hand it is ${verdict}`)
  }
  if (failure !== undefined) expectCorrectFailure(failure, value)
}

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
