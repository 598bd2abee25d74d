import type { JsonValue } from '@x/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseEnvelope, stringifyEnvelope } from './envelope-json.ts'

const bind = '0123456789-_abcdefghij'
const times = { at: 1_800_000_000_000, until: 1_800_003_600_000, since: 1_799_999_999_000 }
const plain = { ...times, bind: undefined, aud: undefined, replaces: undefined }

test.each([
  ['bound, with an audience', { ...plain, bind, aud: 'tickets', value: { a: [1] } }],
  ['bound', { ...plain, bind, value: null }],
  ['bound to nothing', { ...plain, aud: 'tickets', value: false }],
  ['that replaces another', { ...plain, value: 'x', replaces: { key: 'state:a', at: 1_799_999_999_999 } }],
])('an envelope %s is parsed to an equal envelope', (_, envelope) => {
  expect(parseEnvelope(stringifyEnvelope(envelope))).toEqual(envelope)
})

test.each<[string, JsonValue]>([
  ['without a value', [times.at, 1, 1, bind]],
  ['whose time is a text', ['1800000000000', 1, 1, bind, 'value']],
  ['whose lifetime is null', [times.at, null, 1, bind, 'value']],
  ['without an age', [times.at, 1]],
  ['whose binding is a number', [times.at, 1, 1, 7, 'value']],
  ['whose audience is an array', [times.at, 1, 1, bind, 'value', ['tickets']]],
  ['whose replaced value has no time', [times.at, 1, 1, bind, 'value', null, ['state:a']]],
  ['that is an object', { at: times.at, until: times.until, since: times.since, value: 1 }],
  ['that is null', null],
])('content %s is malformed', (_, content) => {
  expect(() => parseEnvelope(JSON.stringify(content))).toThrow(expect.objectContaining({ code: 'malformed' }))
})

test.each(['', '[', `[1e999,1,1,null,0]`])('the text %j is malformed', (text) => {
  expect(() => parseEnvelope(text)).toThrow(expect.objectContaining({ code: 'malformed' }))
})

describe('names of members', () => {
  const names = ['flow', 'round', '__proto__']
  const pack = (value: JsonValue): string => stringifyEnvelope({ ...plain, value }, names)

  test('are not in the text, in any order of the members', () => {
    expect(pack({ round: 0, flow: 'x' })).toBe(`[${times.at},36e5,1000,null,[3,"x",0]]`)
    expect(pack({ round: 0, other: true })).toBe(`[${times.at},36e5,1000,null,[2,0,{"other":true}]]`)
  })

  test('are parsed with their values, for any value', () => {
    const name = fc.constantFrom(...names, 'other', '0', 'constructor')
    const json = fc.oneof(fc.dictionary(name, fc.jsonValue()), fc.jsonValue())
    const property = fc.property(json, (given) => {
      const value: JsonValue = JSON.parse(JSON.stringify(given))
      expect(parseEnvelope(pack(value), names).value).toEqual(value)
    })
    fc.assert(property)
  })

  test.each<[string, JsonValue]>([
    ['an object', { flow: 1 }],
    ['a bit beyond the list', [8, 1]],
    ['a text for the bits', ['1', 1]],
    ['nothing', []],
  ])('%s in their place is malformed', (_, packed) => {
    const text = JSON.stringify([times.at, 1, 1, null, packed])
    expect(() => parseEnvelope(text, names)).toThrow(expect.objectContaining({ code: 'malformed' }))
  })
})
