import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countChunk, emptyTally, type Tally } from './tally.ts'

function countTo(limit: number, pass: (tally: Tally) => Tally = (tally) => tally): Tally {
  let tally = emptyTally
  while (tally.next <= limit) tally = pass(countChunk(tally, limit))
  return tally
}

// The counts are OEIS A006880.
test.each([
  [2, 1],
  [10, 4],
  [100, 25],
  [100_000, 9592],
  [1_000_000, 78_498],
])('up to %i there are %i primes', (limit, primes) => {
  expect(countTo(limit)).toMatchObject({ next: limit + 1, primes })
})

test('a tally that is serialized and parsed between any two chunks has the same result', () => {
  const limit = 350_000
  const expected = countTo(limit)
  const moves = fc.array(fc.boolean(), { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(moves, (plan) => {
      let index = 0
      const moved = countTo(limit, (tally) => (plan[index++] === true ? JSON.parse(JSON.stringify(tally)) : tally))
      expect(moved).toEqual(expected)
    }),
    { numRuns: 8 },
  )
})

test('different primes have different checksums', () => {
  expect(countTo(10).checksum).not.toBe(countTo(11).checksum)
  expect(countTo(11).checksum).toBe(countTo(12).checksum)
})
