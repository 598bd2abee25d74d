import fc from 'fast-check'
import * as portable from '../index.ts'
import * as onNode from '../node.ts'
import { describe, expect, test } from 'vitest'
import { randomBytes } from 'node:crypto'
import { isCanonicalBase64url } from './base64url.ts'
import { nodeCrypto, createRandomPool } from './crypto-provider-node.ts'
import { sealed } from '../node.ts'

const keys = [onNode.randomKey()]
const claims = { purpose: 'tools/call', binding: { principal: 'ada' } }
// Longer than the buffer for decoded texts.
const maxBytes = 200_000
const letters = (length: number): string =>
  onNode
    .randomKey()
    .repeat(Math.ceil(length / 64))
    .slice(0, length)
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
// Decoders skip some of these characters, stop at others, and read the last ones as letters: a full-width letter, and
// one whose low byte is an A.
const strangers = ['+', '/', '=', '.', ' ', '\n', '\0', '\u00c1', '\u0141']

describe('a canonical Base64url text', () => {
  test.each([0, 1, 2, 3, 4, 1023, 1024, 1025, 1026, 1027, 1028, 32_767, 32_768, 32_769, 32_770, 50_000])(
    'of %d characters is recognized as in the portable entry',
    (length) => {
      const text = 'A'.repeat(length)
      const anyEnd = [...alphabet].map((character) => text.slice(0, -1) + character)
      const anyStranger = strangers.flatMap((stranger) => [
        stranger + text.slice(1),
        text.slice(0, length >> 1) + stranger + text.slice((length >> 1) + 1),
        text.slice(0, -1) + stranger,
      ])
      for (const one of [text, ...anyEnd, ...anyStranger]) {
        expect(nodeCrypto.isCanonicalBase64url(one), JSON.stringify(one.slice(-20))).toBe(isCanonicalBase64url(one))
      }
    },
  )

  test('is recognized as in the portable entry, for any text', () => {
    const character = fc.oneof(
      { weight: 50, arbitrary: fc.constantFrom(...alphabet) },
      { weight: 1, arbitrary: fc.constantFrom(...strangers) },
    )
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 200 }), fc.nat(3), (end, more) => {
        // Long enough for the second method.
        const text = 'A'.repeat(1024 + more) + end
        expect(nodeCrypto.isCanonicalBase64url(end)).toBe(isCanonicalBase64url(end))
        expect(nodeCrypto.isCanonicalBase64url(text)).toBe(isCanonicalBase64url(text))
      }),
      { numRuns: 500 },
    )
  })
})

describe.each([
  ['sealed', onNode.sealed, portable.sealed],
  ['signed', onNode.signed, portable.signed],
] as const)('%s tokens', (_, createOnNode, createPortable) => {
  // The first exceeds the buffer by more than an envelope, the others are close to its size on either side.
  test.each([100_000, 0, 24_000, 24_300, 24_500, 24_600])(
    'tokens of %d letters open on either platform, and altered ones on none',
    async (length) => {
      const value = letters(length)
      const codecs = [createOnNode, createPortable].map((create) => create({ keys, maxBytes }))
      for (const maker of codecs) {
        const token = await maker.seal(value, claims)
        const at = token.length - 60
        const altered = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
        for (const reader of codecs) {
          expect(await reader.open(token, claims)).toBe(value)
          await expect(reader.open(altered, claims)).rejects.toMatchObject({ code: 'forged' })
        }
      }
    },
  )

  test('tokens that open at the same time give their own values', async () => {
    const codec = createOnNode({ keys })
    const values = Array.from({ length: 200 }, (_, at) => `${at} ${letters((at * 97) % 9000)}`)
    const tokens = await Promise.all(values.map((value) => codec.seal(value, claims)))
    expect(await Promise.all(tokens.map((token) => codec.open(token, claims)))).toEqual(values)
  })
})

const lengths = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 1500 })

/** Returns the memory location of some bytes: two with different locations do not overlap. */
const placesOf = (bytes: Uint8Array): readonly number[] => Array.from(bytes.keys(), (at) => bytes.byteOffset + at)

test('no byte is given out twice, for any lengths and any number of draws', () => {
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

test('bytes in use do not change while others are drawn', () => {
  const random = createRandomPool(randomBytes)
  const given = Array.from({ length: 2000 }, (_, at) => random(at % 20))
  const copies = given.map((bytes) => Buffer.from(bytes))
  for (let at = 0; at < 2000; at++) random(12)
  expect(given.every((bytes, at) => copies[at]?.equals(bytes))).toBe(true)
})

test('many nonces come from one draw, and a longer request is drawn separately', () => {
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

test('after a failed draw, no earlier byte is given out again', () => {
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

test('no two tokens have the same nonce, in any codec', async () => {
  const key = randomBytes(32)
  const codecs = [sealed({ keys: [key] }), sealed({ keys: [key] })]
  const nonces = new Set<string>()
  for (let at = 0; at < 1000; at++) {
    for (const codec of codecs) nonces.add((await codec.seal(at, { purpose: `purpose ${at % 3}` })).split('.')[2] ?? '')
  }
  expect(nonces.size).toBe(2000)
})
