import type { JsonObject } from '@x/core'
import { describe, expect, test, vi } from 'vitest'
import { compileJsonSchema, compileTrustedJsonSchema } from '../json-schema.ts'

const exponential = '^(a+)+$'
const text = `${'a'.repeat(60)}!`
const withPattern = { pattern: '^a' }

describe('a pattern of a peer is never run', () => {
  test.each<[string, JsonObject, unknown]>([
    ['as pattern', { properties: { a: { pattern: exponential } } }, { a: text }],
    ['in patternProperties', { patternProperties: { [exponential]: { type: 'string' } } }, { [text]: 1 }],
    ['in propertyNames', { propertyNames: { pattern: exponential } }, { [text]: 1 }],
    ['under not', { not: { not: { pattern: exponential } } }, text],
    ['behind a reference', { $ref: '#/$defs/a', $defs: { a: { pattern: exponential } } }, text],
    ['behind a reference to a removed part', { $ref: '#/not', not: { pattern: exponential } }, text],
    [
      'behind a dynamic reference',
      { $dynamicRef: '#a', $defs: { a: { $dynamicAnchor: 'a', pattern: exponential } } },
      text,
    ],
    ['in an unknown keyword', { $ref: '#/components/a', components: { a: { pattern: exponential } } }, text],
    ['in draft-07', { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ pattern: exponential }] }, [text]],
  ])('%s [BAS-045]', (_, schema, value) => {
    const validate = compileJsonSchema(schema)
    const matches = vi.spyOn(RegExp.prototype, 'test')
    expect(validate(value)).toEqual([])
    expect(matches.mock.contexts.filter((expression) => String(expression).includes('a'))).toEqual([])
    matches.mockRestore()
  })
})

describe('a value that the whole schema accepts is accepted without the patterns', () => {
  test.each<[string, JsonObject, unknown]>([
    ['not', { not: withPattern }, 'b'],
    ['not, behind a reference', { not: { $ref: '#/$defs/a' }, $defs: { a: withPattern } }, 'b'],
    ['oneOf', { oneOf: [withPattern, { pattern: '^b' }] }, 'b'],
    ['oneOf beside allOf', { allOf: [{ type: 'string' }], oneOf: [withPattern, { pattern: '^b' }] }, 'b'],
    ['if', { if: { not: withPattern }, else: { minLength: 5 } }, 'b'],
    ['maxContains', { contains: withPattern, maxContains: 1 }, ['ab', 'b']],
    ['additionalProperties', { patternProperties: { '^a': {} }, additionalProperties: false }, { ab: 1 }],
    [
      'unevaluatedProperties',
      { allOf: [{ patternProperties: { '^a': {} } }], unevaluatedProperties: false },
      { ab: 1 },
    ],
    [
      'unevaluatedProperties, behind a reference',
      { $ref: '#/$defs/a', $defs: { a: { patternProperties: { '^a': {} } } }, unevaluatedProperties: false },
      { ab: 1 },
    ],
  ])('where they decide %s', (_, schema, value) => {
    expect(compileTrustedJsonSchema(schema)(value)).toEqual([])
    expect(compileJsonSchema(schema)(value)).toEqual([])
  })
})

test.each<[string, JsonObject, unknown]>([
  ['the rest of their schema', { type: 'string', pattern: '^a', minLength: 3 }, 'ab'],
  ['a branch of oneOf', { oneOf: [{ type: 'string', pattern: '^a' }, { type: 'number' }] }, true],
  ['other parts', { properties: { a: withPattern, b: { not: { type: 'string' } } } }, { b: 'b' }],
  ['members beside', { properties: { a: withPattern }, additionalProperties: false }, { b: 1 }],
])('%s is evaluated without the patterns', (_, schema, value) => {
  expect(compileJsonSchema(schema)(value)).not.toEqual([])
})

describe("a pattern of the program's author is evaluated as JavaScript does it", () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['^[a-z]+(-[a-z]+)*$', ['a-b-c'], ['a--b']],
    ['^(?=.*[A-Z])(?=.*\\d).{8,}$', ['Passw0rd'], ['password']],
    ['^[\\u{1F600}-\\u{1F64F}]+$', ['😀😀'], ['a']],
    ['^(.)\\1$', ['aa'], ['ab']],
    ['foo', ['a foo'], ['bar']],
  ])('%s', (pattern, valid, invalid) => {
    const validate = compileTrustedJsonSchema({ properties: { a: { pattern } } })
    for (const a of valid) expect(validate({ a })).toEqual([])
    for (const a of invalid)
      expect(validate({ a })).toEqual([{ path: '/a', message: 'String does not match pattern.' }])
    const keyed = compileTrustedJsonSchema({
      patternProperties: { [pattern]: { type: 'number' } },
      additionalProperties: false,
    })
    for (const key of valid) expect([keyed({ [key]: 1 }), keyed({ [key]: '' }).length > 0]).toEqual([[], true])
    for (const key of invalid) expect(keyed({ [key]: 1 })).not.toEqual([])
  })
})
