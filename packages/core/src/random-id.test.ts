import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRandomPool, randomId } from './random-id.ts'

test('random ids are 22 characters of Base64url and differ', () => {
  const ids = Array.from({ length: 1000 }, () => randomId())
  expect(ids.every((id) => /^[A-Za-z0-9_-]{22}$/.test(id))).toBe(true)
  expect(new Set(ids).size).toBe(1000)
})

test('random ids have every character at every place', () => {
  const ids = Array.from({ length: 3000 }, () => randomId())
  for (let at = 0; at < 22; at++) expect(new Set(ids.map((id) => id[at])).size).toBe(64)
})

const lengths = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 1500 })

/** Returns the memory location of some bytes. Byte arrays with different locations do not overlap. */
const placesOf = (bytes: Uint8Array): readonly number[] => Array.from(bytes.keys(), (at) => bytes.byteOffset + at)

test('no byte is returned twice, for any lengths and any number of calls', () => {
  fc.assert(
    fc.property(lengths, (asked) => {
      const given = new Map<ArrayBufferLike, Set<number>>()
      const random = createRandomPool((bytes) => new Uint8Array(bytes))
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

test('returned bytes do not change when more bytes are created', () => {
  const random = createRandomPool(randomBytes)
  const given = Array.from({ length: 2000 }, (_, at) => random(at % 20))
  const copies = given.map((bytes) => Buffer.from(bytes))
  for (let at = 0; at < 2000; at++) random(12)
  expect(given.every((bytes, at) => copies[at]?.equals(bytes))).toBe(true)
})

test('many nonces come from one pool, and the bytes of a longer request are created separately', () => {
  const draws: number[] = []
  const random = createRandomPool((bytes) => {
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

test('after the platform failed to create bytes, no earlier byte is returned again', () => {
  let fails = false
  const random = createRandomPool((bytes) => {
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
