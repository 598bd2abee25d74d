import fc from 'fast-check'
import * as portable from '../index.ts'
import * as onNode from '../node.ts'
import { describe, expect, test } from 'vitest'
import { randomBytes } from 'node:crypto'
import { isCanonicalBase64url } from './base64url.ts'
import { nodeCrypto } from './crypto-provider-node.ts'
import { sealedState } from '../node.ts'

const keys = [onNode.randomKey()]
const context = { purpose: 'tools/call', binding: { principal: 'ada' } }
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
  ['sealed', onNode.sealedState, portable.sealedState],
  ['signed', onNode.signedState, portable.signedState],
] as const)('%s tokens', (_, createOnNode, createPortable) => {
  // The last ones are close to the limit of a token.
  test.each([0, 1000, 23_000, 24_000, 24_300])(
    'tokens of %d letters open on either platform, and altered ones on none',
    async (length) => {
      const value = letters(length)
      const codecs = [createOnNode, createPortable].map((create) => create({ keys }))
      for (const maker of codecs) {
        const token = await maker.seal(value, context)
        const at = token.length - 60
        const altered = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
        for (const reader of codecs) {
          expect(await reader.open(token, context)).toBe(value)
          await expect(reader.open(altered, context)).rejects.toMatchObject({ code: 'forged' })
        }
      }
    },
  )

  test('tokens that open at the same time give their own values', async () => {
    const codec = createOnNode({ keys })
    const values = Array.from({ length: 200 }, (_, at) => `${at} ${letters((at * 97) % 9000)}`)
    const tokens = await Promise.all(values.map((value) => codec.seal(value, context)))
    expect(await Promise.all(tokens.map((token) => codec.open(token, context)))).toEqual(values)
  })
})

test('no two tokens have the same nonce, in any codec', async () => {
  const key = randomBytes(32)
  const codecs = [sealedState({ keys: [key] }), sealedState({ keys: [key] })]
  const nonces = new Set<string>()
  for (let at = 0; at < 1000; at++) {
    for (const codec of codecs) nonces.add((await codec.seal(at, { purpose: `purpose ${at % 3}` })).split('.')[2] ?? '')
  }
  expect(nonces.size).toBe(2000)
})
