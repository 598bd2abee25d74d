import type { JsonValue } from '@x/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isStateError } from '../state-error.ts'
import { decodeCbor } from './decode-cbor.ts'
import { encodeCbor } from './encode-cbor.ts'

const names = ['flow', 'round', 'questions', '__proto__']

const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF-'), minLength: 31, maxLength: 37 })
const text = fc.oneof(fc.string({ unit: 'binary' }), hex, fc.uuid(), fc.constantFrom(...names))
const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger(), fc.integer())
const { value: anyJson } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(text, number, fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(text, tie('value'), { maxKeys: 6 }),
  ),
}))

/** The value that bytes decode to, or undefined where they are rejected as every other state is. */
function decodeOrReject(bytes: Uint8Array): JsonValue | undefined {
  try {
    return decodeCbor(bytes, names)
  } catch (error) {
    expect(isStateError(error) && error.code).toBe('malformed')
    return undefined
  }
}

const fromHex = (digits: string): Uint8Array => Uint8Array.from(Buffer.from(digits.replaceAll(' ', ''), 'hex'))
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

describe('CBOR of JSON values', () => {
  test('every value comes back as its JSON text would', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(decodeCbor(encodeCbor(value, names), names)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
      { numRuns: 500 },
    )
  })

  test.each<[string, JsonValue]>([
    ['lone surrogates', ['\ud800', 'a\udfffb', { '\udc00': '\ud83d' }]],
    ['a pair of surrogates, NUL and a mark of byte order', ['😀', '\0', '\ufeff']],
    ['a member called __proto__', JSON.parse('{"__proto__":{"polluted":true},"constructor":1}')],
    [
      'the greatest and the least numbers',
      [2 ** 53 - 1, -(2 ** 53) + 1, 2 ** 53, -(2 ** 63), 5e-324, Number.MAX_VALUE],
    ],
    ['numbers around each length of a head', [23, 24, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, -24, -25, -257]],
    ['texts around each length of a head', [23, 24, 25, 255, 256, 65_535, 65_536].map((length) => 'é'.repeat(length))],
    ['digits and ids that are not quite what is short', ['0'.repeat(31), 'A'.repeat(32), '0-'.repeat(18)]],
    ['300 levels', JSON.parse('['.repeat(300) + ']'.repeat(300))],
  ])('%s come back', (_, value) => {
    const read = decodeCbor(encodeCbor(value, names), names)
    expect(read).toEqual(value)
    expect(JSON.stringify(read)).toBe(JSON.stringify(value))
  })

  test('a member that is undefined is left out, and -0 is 0, as in JSON', () => {
    const value = decodeCbor(encodeCbor({ left: undefined, zero: -0 }, names), names)
    expect(JSON.stringify(value)).toBe('{"zero":0}')
    expect(value).toEqual({ zero: 0 })
  })

  // The examples of RFC 8949, appendix A, that JSON has, and the three rules of this package.
  test.each<[JsonValue, string]>([
    [1_000_000_000_000, '1b 000000e8d4a51000'],
    [-1000, '39 03e7'],
    [1.1, 'fb 3ff199999999999a'],
    [[true, false, null], '83 f5 f4 f6'],
    ['ü', '62 c3bc'],
    [{ a: 1, b: [2, 3] }, 'a2 61 61 01 61 62 82 02 03'],
    [{ round: 2 }, 'a1 01 02'],
    ['00112233445566778899aabbccddeeff', '50 00112233445566778899aabbccddeeff'],
    ['00112233-4455-6677-8899-aabbccddeeff', 'd8 25 50 00112233445566778899aabbccddeeff'],
  ])('%j has the bytes %s', (value, bytes) => {
    expect(toHex(encodeCbor(value, names))).toBe(bytes.replaceAll(' ', ''))
  })
})

describe('other bytes', () => {
  test.each([
    ['nothing', ''],
    ['two values', '01 01'],
    ['an array that is longer than the bytes', '9b 0000ffffffffffff'],
    ['a map that is longer than the bytes', 'bb 0000ffffffffffff'],
    ['a text that is longer than the bytes', '7a ffffffff 61'],
    ['an argument that is cut short', '19 01'],
    ['an integer beyond those that are safe', '1b 0020000000000000'],
    ['NaN', 'fb 7ff8000000000000'],
    ['an infinity', 'fb 7ff0000000000000'],
    ['undefined', 'f7'],
    ['a half-precision float', 'f9 3c00'],
    ['an array without a length', '9f ff'],
    ['a byte string of another length', '41 00'],
    ['an unknown tag', 'c1 50 00112233445566778899aabbccddeeff'],
    ['a tag before a text', 'd8 25 61 61'],
    ['an embedded text that is no JSON', 'd9 0106 41 61'],
    ['an embedded number', 'd9 0106 41 31'],
    ['a name beyond the list', 'a1 04 01'],
    ['a name that is an array', 'a1 80 01'],
    ['a text that is not UTF-8', '61 ff'],
    ['half of a surrogate pair in UTF-8', '63 eda080'],
    ['400 levels', `${'81'.repeat(400)}00`],
    ['100,000 levels', '81'.repeat(100_000)],
  ])('%s are malformed', (_, bytes) => {
    expect(() => decodeCbor(fromHex(bytes), names)).toThrow(expect.objectContaining({ code: 'malformed' }))
  })

  test('bytes cut short anywhere are malformed', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const bytes = encodeCbor(value, names)
        for (let length = 0; length < Math.min(bytes.length, 200); length++) {
          expect(decodeOrReject(bytes.subarray(0, length))).toBeUndefined()
        }
      }),
      { numRuns: 100 },
    )
  })

  test('altered bytes are malformed, or a value that is no larger than a small multiple of them', () => {
    fc.assert(
      fc.property(anyJson, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 }), (value, changes) => {
        const bytes = Uint8Array.from(encodeCbor(value, names))
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte
        const read = decodeOrReject(bytes)
        // The longest text of one byte is a name of the list, and of another byte a number with its sign and comma.
        if (read !== undefined) expect(JSON.stringify(read).length).toBeLessThanOrEqual(bytes.length * 16)
      }),
      { numRuns: 1000 },
    )
  })

  test('any bytes are malformed, or a value that has them as its own', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const read = decodeOrReject(bytes)
        if (read !== undefined) expect(decodeCbor(encodeCbor(read, names), names)).toEqual(read)
      }),
      { numRuns: 2000 },
    )
  })
})
