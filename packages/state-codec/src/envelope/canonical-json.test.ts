import type { JsonValue } from '@x/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalizeJson } from './canonical-json.ts'

test('the example of RFC 8785, 3.2.2 and 3.2.3, has the canonical text given there', () => {
  // Parsed from text: number literals would be rounded before the test reads them.
  const value: JsonValue = JSON.parse(`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
    "literals": [null, true, false]
  }`)
  expect(canonicalizeJson(value)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  )
})

test('keys are ordered by UTF-16 code units, as in RFC 8785, 3.2.3', () => {
  const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 }
  expect(Object.keys(JSON.parse(canonicalizeJson(value)))).toEqual([
    '1',
    '\r',
    '\u0080',
    '\u00f6',
    '\u20ac',
    '\ud83d\ude00',
    '\ufb33',
  ])
})

test('few keys and many keys have the same order', () => {
  const key = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 3 }), fc.nat(30).map(String))
  fc.assert(
    fc.property(fc.uniqueArray(key, { maxLength: 40 }), (keys) => {
      const value = Object.fromEntries(keys.map((name) => [name, 1]))
      const members = Object.keys(value)
        .toSorted()
        .map((name) => `${JSON.stringify(name)}:1`)
      expect(canonicalizeJson(value)).toBe(`{${members.join(',')}}`)
    }),
  )
})

test('the text is JSON of the same value, and the order of members does not matter', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' })), (members) => {
      const value: JsonValue = JSON.parse(JSON.stringify(members))
      const reversed: JsonValue = Object.fromEntries(Object.entries(Object(value)).reverse()) as JsonValue
      expect(JSON.parse(canonicalizeJson(value))).toEqual(value)
      expect(canonicalizeJson(reversed)).toBe(canonicalizeJson(value))
    }),
  )
})

test('a string of any length is written as JSON writes it', () => {
  const character = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...' !#[]~az') },
    { weight: 1, arbitrary: fc.constantFrom('"', '\\', '\u001f', '\u007f', '\u0080', '\u2028', '\u{1f600}') },
  )
  fc.assert(
    fc.property(fc.string({ unit: character, minLength: 0, maxLength: 100 }), (text) => {
      expect(canonicalizeJson(text)).toBe(JSON.stringify(text))
      expect(canonicalizeJson({ [text]: 1 })).toBe(JSON.stringify({ [text]: 1 }))
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['infinity', Infinity],
  ['a lone surrogate', '\udead'],
  ['a lone surrogate in a key', { '\ud800': 1 }],
  ['a function', (() => 1) as unknown as JsonValue],
  ['too many levels', JSON.parse(`${'['.repeat(302)}${']'.repeat(302)}`)],
])('%s has no canonical form', (_, value: JsonValue) => {
  expect(() => canonicalizeJson(value)).toThrow(expect.objectContaining({ code: 'not_json' }))
})
