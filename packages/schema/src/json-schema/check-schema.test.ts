import { describe, expect, test } from 'vitest'
import { findSchemaProblem, dialectOf } from './check-schema.ts'
import type { JsonObject } from '@x/core'

const draft2020 = 'https://json-schema.org/draft/2020-12/schema'
const draft07 = 'http://json-schema.org/draft-07/schema#'

describe('dialects', () => {
  test.each<[JsonObject, string | undefined]>([
    [{}, '2020-12'],
    [{ $schema: draft2020 }, '2020-12'],
    [{ $schema: `${draft2020}#` }, '2020-12'],
    [{ $schema: draft07 }, '7'],
    [{ $schema: draft07.slice(0, -1) }, '7'],
    [{ $schema: 'https://json-schema.org/draft/2019-09/schema' }, undefined],
    [{ $schema: 'http://json-schema.org/draft-04/schema#' }, undefined],
    [{ $schema: 'https://example.com/own-dialect' }, undefined],
    [{ $schema: 'toString' }, undefined],
    [{ $schema: 7 }, undefined],
  ])('%j is of dialect %s [BAS-034 BAS-035 BAS-037]', (schema, dialect) => {
    expect(dialectOf(schema)).toBe(dialect)
  })

  test('an unknown one is refused by name, with those that are known [BAS-039]', () => {
    const reason = findSchemaProblem({ $schema: 'https://example.com/own-dialect' })
    expect(reason).toContain('"https://example.com/own-dialect" is not supported')
    expect(reason).toContain(draft2020)
  })

  test('a part of another dialect is refused [BAS-038]', () => {
    const reason = findSchemaProblem({ $defs: { old: { $schema: draft07 } } })
    expect(reason).toBe('a part of it is of another dialect (at /$defs/old)')
  })
})

describe('references', () => {
  test.each<[string, JsonObject]>([
    ['a pointer', { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }],
    ['a pointer with escapes', { $ref: '#/$defs/a~1b~0c%20d', $defs: { 'a/b~c d': true } }],
    ['a pointer into an unknown keyword', { $ref: '#/components/a', components: { a: {} } }],
    ['a pointer to an array member', { properties: { x: { $ref: '#/allOf/0' } }, allOf: [{ type: 'object' }] }],
    ['an anchor', { $ref: '#here', $defs: { a: { $anchor: 'here' } } }],
    ['a dynamic anchor', { $dynamicRef: '#here', $defs: { a: { $dynamicAnchor: 'here' } } }],
    ['the root, from a property', { properties: { child: { $ref: '#' } } }],
    [
      'one another, descending',
      { $ref: '#/$defs/a', $defs: { a: { items: { $ref: '#/$defs/b' } }, b: { not: { $ref: '#/$defs/a' } } } },
    ],
    ['a property named $ref', { properties: { $ref: { type: 'string' } } }],
    ['text that looks like one, in data', { const: { $ref: 'https://evil.test' }, default: { $ref: 'x' } }],
    ['a schema with a name', { $id: 'https://example.com/a', $ref: '#/$defs/a', $defs: { a: {} } }],
    ['a named part without references', { $ref: '#/$defs/a', $defs: { a: { $id: 'A' } } }],
  ])('may lead to %s', (_, schema) => {
    expect(findSchemaProblem(schema)).toBeUndefined()
  })

  test.each([
    'https://example.com/schema.json',
    'http://169.254.169.254/latest/meta-data',
    '//evil.test/a',
    'file:///etc/passwd',
    'ftp://example.com/a#/b',
    'other.json',
    'other.json#/$defs/a',
    '/schemas/a',
    'urn:uuid:0',
    'HTTPS://EXAMPLE.COM',
    ' #/$defs/a',
    '',
  ])('may not leave the schema: %j [BAS-041 BAS-042 BAS-044]', (reference) => {
    const $defs = { a: {} }
    for (const keyword of ['$ref', '$dynamicRef']) {
      const reason = findSchemaProblem({ $defs, properties: { a: { [keyword]: reference } } })
      expect(reason).toContain(`its ${keyword} ${JSON.stringify(reference)} leaves the schema`)
    }
  })

  test.each([
    ['#/$defs/b'],
    ['#/$defs'],
    ['#/$defs/a/const/x'],
    ['#/$defs/toString'],
    ['#/__proto__'],
    ['#/$defs/a/enum/00'],
    ['#nowhere'],
    ['#/$defs/a/type'],
  ])('may not lead nowhere: %j [BAS-044]', ($ref) => {
    const $defs = { a: { type: 'object', const: { x: {} }, enum: [{}] } }
    expect(findSchemaProblem({ $ref, $defs })).toContain('leads to no schema within it')
  })

  test('may not be malformed', () => {
    expect(findSchemaProblem({ $ref: '#/%E0%A4%A' })).toContain('is not well-formed')
  })

  test.each(['/$defs/a', '1a', 'a b', ''])('may not be to an anchor that is no name: %j', ($anchor) => {
    expect(findSchemaProblem({ $defs: { a: { $anchor } } })).toContain('its $anchor must be a name')
  })

  test('may not be in a part with a name of its own, where # would mean that part', () => {
    const inner = { $id: 'https://example.com/inner', properties: { x: { $ref: '#/$defs/a' } } }
    expect(findSchemaProblem({ $defs: { a: {}, inner } })).toContain('an $id of its own')
  })

  test.each<[string, JsonObject]>([
    ['itself', { $ref: '#' }],
    ['itself by an anchor', { $anchor: 'a', allOf: [{ $ref: '#a' }] }],
    ['one another', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }],
    ['itself through a condition', { else: { anyOf: [{ not: { $ref: '#' } }] }, if: { type: 'object' } }],
    ['itself through a dependent schema', { dependentSchemas: { x: { $dynamicRef: '#' } } }],
  ])('may not go round to %s without descending into the value', (_, schema) => {
    expect(findSchemaProblem(schema)).toBe('its references form a cycle')
  })
})

describe('size [BAS-045]', () => {
  const nest = (depth: number): JsonObject => {
    let schema: JsonObject = {}
    for (let at = 1; at < depth; at++) schema = at % 2 === 0 ? { not: schema } : { properties: { a: schema } }
    return schema
  }
  const wide = (count: number): JsonObject => ({ anyOf: Array.from({ length: count - 1 }, () => ({})) })

  test('64 subschemas in one another are taken, and one more is not', () => {
    expect(findSchemaProblem(nest(64))).toBeUndefined()
    expect(findSchemaProblem(nest(65))).toBe('it is more than 64 subschemas deep')
    expect(findSchemaProblem(nest(200_000))).toBe('it is more than 64 subschemas deep')
  })

  test('10,000 subschemas are taken, and one more is not', () => {
    expect(findSchemaProblem(wide(10_000))).toBeUndefined()
    expect(findSchemaProblem(wide(10_001))).toBe('it has more than 10000 subschemas')
  })

  test.each<[string, JsonObject]>([
    ['pattern', { pattern: 'a'.repeat(1001) }],
    ['patternProperties', { patternProperties: { ['a'.repeat(1001)]: {} } }],
  ])('a regular expression of more than 1000 characters is not, as %s', (_, schema) => {
    expect(findSchemaProblem({ properties: { a: schema } })).toBe(
      'a pattern is longer than 1000 characters (at /properties/a)',
    )
  })
})

describe('keywords have the form that their dialect gives them [BAS-040]', () => {
  test.each<[JsonObject, string]>([
    [{ type: 'strnig' }, 'its type must be the name of a type, or an array of them'],
    [{ type: [] }, 'its type must be'],
    [{ type: null }, 'its type must be'],
    [{ properties: [] }, 'its properties must be an object of schemas'],
    [{ properties: { a: 'string' } }, 'its properties must be an object of schemas'],
    [{ required: true }, 'its required must be an array of strings'],
    [{ required: [1] }, 'its required must be an array of strings'],
    [{ anyOf: [] }, 'its anyOf must be a non-empty array of schemas'],
    [{ oneOf: {} }, 'its oneOf must be a non-empty array of schemas'],
    [{ items: 1 }, 'its items must be a schema'],
    [{ not: null }, 'its not must be a schema'],
    [{ minLength: -1 }, 'its minLength must be a whole number'],
    [{ minimum: '1' }, 'its minimum must be a number'],
    [{ exclusiveMinimum: true }, 'its exclusiveMinimum must be a number'],
    [{ multipleOf: 0 }, 'its multipleOf must be a number above zero'],
    [{ uniqueItems: 1 }, 'its uniqueItems must be a boolean'],
    [{ enum: 'a' }, 'its enum must be an array'],
    [{ dependentRequired: { a: 'b' } }, 'its dependentRequired must be an object of arrays of strings'],
    [{ $ref: 1 }, 'its $ref must be a string'],
    [{ pattern: '(' }, 'a pattern is not a regular expression'],
    [{ patternProperties: { '[': {} } }, 'a pattern is not a regular expression'],
  ])('%j is refused', (schema, reason) => {
    expect(findSchemaProblem(schema)).toContain(reason)
    expect(findSchemaProblem({ properties: { 'a/b': schema } })).toMatch(/\(at \/properties\/a~1b\)$/)
  })

  test.each<[JsonObject]>([
    [{ type: ['string', 'null'], enum: [], const: null, default: 1, examples: 'x', description: 1, 'x-any': [1] }],
    [{ items: true, additionalProperties: false, prefixItems: [true, {}], contains: {}, minContains: 0 }],
    [{ $schema: draft07, items: [{}, true], dependencies: { a: ['b'], c: {} }, definitions: { a: {} } }],
    [{ if: {}, else: true, propertyNames: { pattern: '^a' }, unevaluatedProperties: false }],
  ])('%j is taken', (schema) => {
    expect(findSchemaProblem(schema)).toBeUndefined()
  })
})
