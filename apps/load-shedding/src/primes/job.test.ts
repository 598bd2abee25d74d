import { expect, test } from 'vitest'
import { heavy, isExpectedResult, light } from './job.ts'
import { countChunk, emptyTally } from './tally.ts'

test.each([light, heavy])('what a $size job has to give is what counting gives', ({ limit, primes, checksum }) => {
  let tally = emptyTally
  while (tally.next <= limit) tally = countChunk(tally, limit)
  expect([tally.primes, tally.checksum.toString(16).padStart(8, '0')]).toEqual([primes, checksum])
})

test.each([
  ['the right one', { limit: light.limit, primes: light.primes, checksum: light.checksum }, true],
  ['one of another job', { limit: heavy.limit, primes: heavy.primes, checksum: heavy.checksum }, false],
  ['one with a prime too many', { limit: light.limit, primes: light.primes + 1, checksum: light.checksum }, false],
  ['one with other primes', { limit: light.limit, primes: light.primes, checksum: '00000000' }, false],
  ['none', undefined, false],
])('of the results of a light job, %s is judged', (_, result, verdict) => {
  expect(isExpectedResult(light, result)).toBe(verdict)
})
