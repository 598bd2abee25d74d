import fc from 'fast-check'
import { expect, test } from 'vitest'
import { publishedDefinitions, createSchemaPredicate } from '../testing/published.ts'
import { shapes, zodOf } from '../zod.ts'

const strict = createSchemaPredicate(publishedDefinitions, { formats: false })

test('all that JSON can express is a JSON value', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(zodOf(shapes.jsonValue).safeParse(JSON.parse(text)).success).toBe(true)
    }),
  )
})

test.each([
  ['null', zodOf(shapes.jsonValue), 'JSONValue', null],
  ['a fraction', zodOf(shapes.jsonValue), 'JSONValue', 0.5],
  [
    'an answer with a fraction',
    zodOf(shapes.elicitResult),
    'ElicitResult',
    { action: 'accept', content: { width: 0.5 } },
  ],
])('%s is taken, although the published JSON Schema forgets it', (_, validator, definition, value) => {
  expect(strict(definition, value)).toBe(false)
  expect(validator.parse(value)).toEqual(value)
})

const cycle: { self?: unknown } = {}
cycle.self = cycle

test.each([
  ['undefined', undefined],
  ['not a number', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['a big integer', 1n],
  ['a function', () => 0],
  ['a hole in an array', [undefined]],
  ['an object that holds itself', cycle],
  ['257 arrays in one another', JSON.parse('['.repeat(257) + ']'.repeat(257))],
])('%s is not a JSON value', (_, value) => {
  expect(zodOf(shapes.jsonValue).safeParse(value).success).toBe(false)
})

test('256 arrays in one another are a JSON value', () => {
  expect(zodOf(shapes.jsonValue).safeParse(JSON.parse('['.repeat(256) + ']'.repeat(256))).success).toBe(true)
})

test('an array is not a JSON object, and an object not a JSON array', () => {
  expect([zodOf(shapes.jsonObject).safeParse([]).success, zodOf(shapes.jsonObject).safeParse(null).success]).toEqual([
    false,
    false,
  ])
  expect([zodOf(shapes.jsonArray).safeParse({}).success, zodOf(shapes.jsonArray).safeParse([]).success]).toEqual([
    false,
    true,
  ])
})

test.each([
  ['an object with known fields', zodOf(shapes.implementation), { name: 'a', version: '1' }],
  ['a record', zodOf(shapes.clientCapabilities), { extensions: { 'com.example/x': {} } }],
])('a key __proto__ in %s does not become the prototype of what is parsed', (_, validator, value) => {
  const hostile = JSON.parse(
    JSON.stringify(value).replaceAll('{', '{"__proto__":{"polluted":true},').replaceAll(',}', '}'),
  )
  expect(Object.hasOwn(hostile, '__proto__')).toBe(true)
  const parsed: unknown = validator.parse(hostile)
  expect(parsed).not.toHaveProperty('polluted')
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
  expect({}).not.toHaveProperty('polluted')
})
