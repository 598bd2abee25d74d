import fc from 'fast-check'
import vectors from './header-value.vectors.json' with { type: 'json' }
import { describe, expect, test } from 'vitest'
import { anyText } from '../testing/any-text.ts'
import { decodeHeaderValue, encodeHeaderValue } from './header-params.ts'

describe('the vectors', () => {
  test.each(vectors.encoded)('$reason: $text is sent as $header [SHT-052 SHT-053]', ({ text, header }) => {
    expect(encodeHeaderValue(text)).toBe(header)
    expect(decodeHeaderValue(header)).toBe(text)
  })

  test.each(vectors.decodedOnly)('$reason: $header means $text', ({ text, header }) => {
    expect(decodeHeaderValue(header)).toBe(text)
  })

  test.each(vectors.refused)('$reason: $header is refused', ({ header }) => {
    expect(decodeHeaderValue(header)).toBeUndefined()
  })
})

test('a plain value that looks encoded is encoded, so that it is decoded unchanged [SHT-057]', () => {
  const looks = '=?base64?SGVsbG8=?='
  expect(encodeHeaderValue(looks)).not.toBe(looks)
  expect(decodeHeaderValue(encodeHeaderValue(looks))).toBe(looks)
})

const text = fc.oneof(
  anyText,
  fc.string({ unit: fc.constantFrom(' ', '\t', 'a', '\r', '\n', 'é', '=', '?') }),
  fc.string().map((inner) => `=?base64?${inner}?=`),
)

test('any text is decoded to itself', () => {
  fc.assert(fc.property(text, (value) => decodeHeaderValue(encodeHeaderValue(value)) === value))
})

test('a sent value is visible ASCII, with spaces and tabs only between', () => {
  fc.assert(
    fc.property(text, (value) => {
      expect(encodeHeaderValue(value)).toMatch(/^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/)
    }),
  )
})

test('no two headers that are Base64 mean the same text', () => {
  fc.assert(
    fc.property(fc.base64String(), fc.constantFrom('', ' ', '=', 'A'), (base64, more) => {
      const decoded = decodeHeaderValue(`=?base64?${base64}${more}?=`)
      if (decoded === undefined) return
      expect(btoa(String.fromCharCode(...new TextEncoder().encode(decoded)))).toBe(base64 + more)
    }),
  )
})

test.each(['\ud800', 'a\udc00b', '\udc00\ud800'])(
  'half a surrogate pair is refused instead of being sent as another text',
  (value) => {
    expect(() => encodeHeaderValue(value)).toThrow('half a surrogate pair')
  },
)

test('a long value is judged in one pass', () => {
  const value = `${'a '.repeat(500_000)}a`
  expect(encodeHeaderValue(value)).toBe(value)
  expect(decodeHeaderValue(`${value}\u0000`)).toBeUndefined()
})
