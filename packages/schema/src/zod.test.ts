import { examples } from '@tooling/spec'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryOf } from './testing/arbitrary.ts'
import { mutationsOf } from './testing/mutate.ts'
import {
  definitions,
  type Of,
  publishedDefinitions,
  createSchemaPredicate,
  validatorName,
  validatorOf,
  validators,
} from './testing/published.ts'
import type { PublishedTypes } from './testing/published-types.generated.ts'
import { renderPublishedTypes } from './testing/published-types.ts'

const names = Object.keys(publishedDefinitions)
const strict = createSchemaPredicate(publishedDefinitions, { formats: true })
const allows = createSchemaPredicate(definitions, { formats: false })

test('every published definition has a validator, and every validator a definition', () => {
  expect([...validators.keys()].toSorted()).toEqual(names.map(validatorName).toSorted())
})

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Flat<T> = { [K in keyof T]: T[K] }
type DifferingType = {
  [Name in keyof PublishedTypes]: Same<Flat<Of<Name>>, Flat<PublishedTypes[Name]>> extends true ? never : Name
}[keyof PublishedTypes]

/** The types that differ from their published definition on purpose. Without its row, no other may differ. */
const knownDifferences: Readonly<Record<DifferingType, string>> = {
  resultType: 'the values that the specification gives it are named beside any other string',
  rpcResult: 'a result of a server of an earlier revision has no resultType',
}

test('every type has exactly the keys and values of its published definition', async () => {
  expect([...validators.keys()]).toEqual(expect.arrayContaining(Object.keys(knownDifferences)))
  await expect(renderPublishedTypes()).toMatchFileSnapshot('./testing/published-types.generated.ts')
})

describe('a published example', () => {
  test.each(examples().map(({ file, definition, value }) => [file, definition, value] as const))(
    '%s is valid, and is kept whole',
    (_, definition, value) => {
      expect(strict(definition, value)).toBe(true)
      const parsed = validatorOf(definition).parse(value)
      expect(parsed).toEqual(value)
      expect(JSON.parse(JSON.stringify(parsed))).toEqual(value)
    },
  )
})

describe('the validator of a definition', () => {
  test.each(names)('%s accepts all that the published schema allows, unchanged', (name) => {
    const validator = validatorOf(name)
    fc.assert(
      fc.property(arbitraryOf(name), (value) => {
        expect(allows(name, value)).toBe(true)
        expect(validator.parse(value)).toEqual(value)
      }),
      { numRuns: 25 },
    )
  })

  test.each(names)('%s agrees with the published schema on a value with one thing changed', (name) => {
    const validator = validatorOf(name)
    fc.assert(
      fc.property(arbitraryOf(name), (value) => {
        const disagreements = mutationsOf(value).filter(
          (mutation) => validator.safeParse(mutation).success !== allows(name, mutation),
        )
        expect(disagreements).toEqual([])
      }),
      { numRuns: 6 },
    )
  })
})
