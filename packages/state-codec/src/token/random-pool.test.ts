import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sealed } from '../node.ts'
import { pooledRandom } from './random-pool.ts'

const lengths = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 1500 })

/** Where in memory some bytes lie: two that share none never came from the same draw at the same place. */
const placesOf = (bytes: Uint8Array): readonly number[] => Array.from(bytes.keys(), (at) => bytes.byteOffset + at)

test('no byte that was drawn is given twice, whatever lengths are asked for, over any number of draws', () => {
  fc.assert(
    fc.property(lengths, (asked) => {
      const given = new Map<ArrayBufferLike, Set<number>>()
      const random = pooledRandom((bytes) => new Uint8Array(bytes))
      for (const length of asked) {
        const bytes = random(length)
        expect(bytes.length).toBe(length)
        const before = given.get(bytes.buffer) ?? new Set()
        expect(placesOf(bytes).some((place) => before.has(place))).toBe(false)
        given.set(bytes.buffer, new Set([...before, ...placesOf(bytes)]))
      }
    }),
    { numRuns: 30 },
  )
})

test('bytes that were given stay as they are while others are drawn', () => {
  const random = pooledRandom(randomBytes)
  const given = Array.from({ length: 2000 }, (_, at) => random(at % 20))
  const copies = given.map((bytes) => Buffer.from(bytes))
  for (let at = 0; at < 2000; at++) random(12)
  expect(given.every((bytes, at) => copies[at]?.equals(bytes))).toBe(true)
})

test('many nonces come from one draw, and what is longer than a nonce is drawn for itself', () => {
  const draws: number[] = []
  const random = pooledRandom((bytes) => {
    draws.push(bytes)
    return new Uint8Array(bytes)
  })
  for (let at = 0; at < 256; at++) random(12)
  expect(draws).toEqual([3072])
  random(32)
  expect(draws).toEqual([3072, 32])
  random(12)
  expect(draws).toEqual([3072, 32, 3072])
})

test('after a draw that failed, nothing is given that was given before', () => {
  let fails = false
  const random = pooledRandom((bytes) => {
    if (fails) throw new Error('no entropy')
    return randomBytes(bytes)
  })
  const given = Array.from({ length: 256 }, () => Buffer.from(random(12)).toString('hex'))
  fails = true
  expect(() => random(12)).toThrow('no entropy')
  expect(() => random(12)).toThrow('no entropy')
  fails = false
  given.push(Buffer.from(random(12)).toString('hex'))
  expect(new Set(given).size).toBe(257)
})

test('no two of many tokens have the same nonce, from whatever codec they are', async () => {
  const key = randomBytes(32)
  const codecs = [sealed({ keys: [key] }), sealed({ keys: [key] })]
  const nonces = new Set<string>()
  for (let at = 0; at < 1000; at++) {
    for (const codec of codecs) nonces.add((await codec.seal(at, { purpose: `purpose ${at % 3}` })).split('.')[2] ?? '')
  }
  expect(nonces.size).toBe(2000)
})
