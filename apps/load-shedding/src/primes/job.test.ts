import { expect, test } from 'vitest'
import { heavy, isExpectedResult, light } from './job.ts'
import { countChunk, emptyTally } from './tally.ts'

test.each([light, heavy])('the expected result of a $size job is the counted one', ({ limit, primes, checksum }) => {
  let tally = emptyTally
  while (tally.next <= limit) tally = countChunk(tally, limit)
  expect([tally.primes, tally.checksum.toString(16).padStart(8, '0')]).toEqual([primes, checksum])
})

test.each([
  ['the expected one', { limit: light.limit, primes: light.primes, checksum: light.checksum }, true],
  ['one of another job', { limit: heavy.limit, primes: heavy.primes, checksum: heavy.checksum }, false],
  ['one with a prime too many', { limit: light.limit, primes: light.primes + 1, checksum: light.checksum }, false],
  ['one with other primes', { limit: light.limit, primes: light.primes, checksum: '00000000' }, false],
  ['none', undefined, false],
])('as the result of a light job, %s is checked', (_, result, isExpected) => {
  expect(isExpectedResult(light, result)).toBe(isExpected)
})
