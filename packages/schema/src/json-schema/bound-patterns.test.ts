import { describe, expect, test } from 'vitest'
import { compileJsonSchema } from '../json-schema.ts'

const tooLarge = [{ path: '', message: 'It is too large to be validated against this schema.' }]

describe('a pattern whose time grows exponentially', () => {
  test.each([
    ['^(a+)+$'],
    ['(a*)*b'],
    ['^(a|a)*$'],
    ['^(a|ab|b)*$'],
    ['^(\\w+\\s?)*$'],
    ['((a?|b?)c)+$'],
    ['^(a?){30}a{30}$'],
    ['^(?=(a+)+$)'],
    ['(?<=^(a+)+)b'],
    ['^a*a*a*a*a*$'],
    ['^(\\p{L}+|\\d+)+$'],
    ['^([^\\p{L}]|x)*x*$(.)\\1'],
  ])('%s is refused by name, as pattern and in patternProperties [BAS-045]', (pattern) => {
    const named = `its pattern ${JSON.stringify(pattern)}`
    const schema = { properties: { a: { pattern } } }
    expect(() => compileJsonSchema(schema)).toThrow(`The JSON Schema is rejected: ${named}`)
    expect(() => compileJsonSchema(schema)).toThrow('(at /properties/a)')
    expect(() => compileJsonSchema({ patternProperties: { [pattern]: {} } })).toThrow(named)
  })
})

describe('patterns that people write', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['^[a-z]+(-[a-z]+)*$', ['a-b-c'], ['a--b']],
    ['^\\d{4}-\\d{2}-\\d{2}$', ['2026-07-28'], ['2026-7-28']],
    ['^(\\d{1,3}\\.){3}\\d{1,3}$', ['127.0.0.1'], ['127.0.0']],
    ['^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$', ['a@b.c'], ['a@b']],
    ['^(?=.*[A-Z])(?=.*\\d).{8,}$', ['Passw0rd'], ['password']],
    ['^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$', [], ['x']],
    ['^\\+?\\d{1,3}?[-.\\s]?\\(?\\d{1,4}\\)?[-.\\s]?\\d{1,4}[-.\\s]?\\d{1,9}$', ['+49 30 1234 5678'], ['x']],
    ['^[\\u{1F600}-\\u{1F64F}]+$', ['😀😀'], ['a']],
    ['^https?://[^\\s/$.?#].[^\\s]*$', ['https://x.example/a'], ['ftp://x']],
    ['foo', ['a foo'], ['bar']],
    ['\\S', ['a'], [' ']],
  ])('%s are taken, and match as ever', (pattern, valid, invalid) => {
    const validate = compileJsonSchema({ properties: { a: { pattern } }, not: { required: ['b'] } })
    for (const a of valid) expect(validate({ a })).toEqual([])
    for (const a of invalid)
      expect(validate({ a })).toEqual([{ path: '/a', message: 'String does not match pattern.' }])
    expect(validate({ a: 1 })).toEqual([])
    const keyed = compileJsonSchema({
      patternProperties: { [pattern]: { type: 'number' } },
      additionalProperties: false,
    })
    for (const key of valid) expect([keyed({ [key]: 1 }), keyed({ [key]: '' }).length > 0]).toEqual([[], true])
    for (const key of invalid) expect(keyed({ [key]: 1 })).not.toEqual([])
  })
})

describe('a text that would take too long', () => {
  const quadratic = '^[^@]+@[^@]+\\.[^@]+$'

  test.each([
    ['as a value', { pattern: quadratic }, `@${'.'.repeat(3000)}@`],
    ['where a pattern is negated', { not: { pattern: quadratic } }, `a@${'.'.repeat(3000)}@`],
    ['as a key', { patternProperties: { [quadratic]: true } }, { [`a@${'.'.repeat(3000)}@`]: 1 }],
  ])('is not matched %s, and that is said', (_, schema, value) => {
    expect(compileJsonSchema(schema)(value)).toEqual(tooLarge)
  })

  test('does not interfere with a text that is matched, and a linear pattern takes a long one', () => {
    const schema = { properties: { mail: { pattern: quadratic }, text: { pattern: '^[^@]+$' } } }
    expect(compileJsonSchema(schema)({ mail: 'a@b.c', text: 'x'.repeat(1_000_000) })).toEqual([])
  })

  test('counts with all others: many short ones are taken, many long ones are too much', () => {
    const validate = compileJsonSchema({ items: { pattern: quadratic } })
    expect(validate(Array.from({ length: 1000 }, (_, at) => `user-${at}@service.example`))).toEqual([])
    expect(validate(Array.from({ length: 1000 }, () => `a@${'b.'.repeat(900)}c`))).toEqual(tooLarge)
  })
})

test('many patterns that are hard to analyse are refused, before that takes long', () => {
  const choices = Array.from({ length: 100 }, (_, at) => String.fromCharCode(97 + (at % 26)) + at).join('|')
  const allOf = Array.from({ length: 5000 }, (_, at) => ({ pattern: `^(${choices})*${at}$` }))
  expect(() => compileJsonSchema({ allOf })).toThrow('is too complex')
})
