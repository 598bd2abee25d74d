import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { errorCodes } from './basic/mcp-error.ts'
import type { JsonObject } from '@x/core'
import { findSchemaProblem } from './json-schema/check-schema.ts'
import { compileJsonSchema, compileTrustedJsonSchema } from './json-schema.ts'

const object = (schema: JsonObject): JsonObject => ({ type: 'object', ...schema })

describe('a schema that cannot be trusted', () => {
  test.each<[JsonObject, string]>([
    [{ $ref: 'https://example.com/schema.json' }, 'leaves the schema'],
    [{ properties: { a: { $ref: 'file:///etc/passwd' } } }, 'leaves the schema'],
    [{ $ref: '#/$defs/nowhere' }, 'leads to no schema'],
    [{ $schema: 'https://json-schema.org/draft/2019-09/schema' }, 'is not supported'],
    [{ $ref: '#' }, 'form a cycle'],
    [{ pattern: '(' }, 'not a regular expression'],
  ])('%j does not compile, and the error has the reason [BAS-039 BAS-041 BAS-044]', (schema, reason) => {
    expect(() => compileJsonSchema(schema)).toThrow(
      expect.objectContaining({ code: errorCodes.internal, message: expect.stringContaining(reason) }),
    )
  })

  test('every schema that is accepted compiles', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', '/$defs/a', '/properties/b')
    const partsOf = (part: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
      fc.record(
        {
          $anchor: name,
          $defs: fc.dictionary(name, part, { maxKeys: 2 }),
          properties: fc.dictionary(name, part, { maxKeys: 2 }),
          items: part,
          unknown: part,
        },
        { requiredKeys: [] },
      )
    const leaf = fc.constantFrom<JsonObject>({}, { type: 'string' }, { $anchor: 'a' }, { $ref: '#a' })
    const schema = partsOf(partsOf(leaf))
    let acceptedCount = 0
    fc.assert(
      fc.property(schema, (input) => {
        if (findSchemaProblem(input) !== undefined) return
        acceptedCount += 1
        compileTrustedJsonSchema(input)([{}])
      }),
      { numRuns: 2000 },
    )
    expect(acceptedCount).toBeGreaterThan(100)
  })

  test('nothing is ever fetched [BAS-041 BAS-042]', () => {
    const fetch = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('was fetched'))
    const validate = compileJsonSchema({
      $id: 'https://example.com/a',
      $ref: '#/$defs/a',
      $defs: { a: { type: 'string' } },
    })
    expect([validate('x'), fetch.mock.calls]).toEqual([[], []])
    fetch.mockRestore()
  })

  test('is not changed and not needed after compiling, and may be frozen', () => {
    const schema = Object.freeze({ type: 'object', properties: Object.freeze({ a: Object.freeze({ $ref: '#' }) }) })
    const before = Object.getOwnPropertyNames(schema)
    expect(compileJsonSchema(schema)({ a: { a: 1 } })).toHaveLength(1)
    expect(Object.getOwnPropertyNames(schema)).toEqual(before)
  })

  test('may use __proto__ as the name of a property', () => {
    const schema: JsonObject = JSON.parse('{"properties":{"__proto__":{"type":"number"}},"additionalProperties":false}')
    const validate = compileJsonSchema(schema)
    expect(validate(JSON.parse('{"__proto__":1}'))).toEqual([])
    expect(validate(JSON.parse('{"x":1}'))).toHaveLength(1)
    expect('type' in {}).toBe(false)
  })
})

describe('the work is bounded [BAS-045]', () => {
  const tooLarge = [{ path: '', message: 'It is too large to be validated against this schema.' }]
  const nested = (depth: number): unknown => {
    let value: unknown = {}
    for (let at = 0; at < depth; at++) value = { a: value }
    return value
  }
  const twice = { anyOf: [{ properties: { a: { $ref: '#' } }, required: ['z'] }, { properties: { a: { $ref: '#' } } }] }

  test('where a schema of ten lines takes two to the power of the depth', () => {
    const validate = compileJsonSchema(twice)
    expect(validate(nested(8))).toEqual([])
    expect(validate(nested(8))).toEqual([])
    expect(validate(nested(60))).toEqual(tooLarge)
  })

  test('and a schema that has used the bound up is not evaluated again', () => {
    const validate = compileJsonSchema(twice)
    expect(validate(nested(60))).toEqual(tooLarge)
    expect(validate(nested(1))).toEqual(tooLarge)
    expect(compileJsonSchema(twice)(nested(1))).toEqual([])
  })

  test('by a tenth for a small value of the work that a long value may cost', () => {
    expect(compileJsonSchema(twice)(nested(14))).toEqual(tooLarge)
  })

  test('where references fan out without descending', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => {
        const next = { $ref: `#/$defs/d${at + 1}` }
        return [`d${at}`, { allOf: [next, next] }]
      }),
    )
    expect(compileJsonSchema({ $ref: '#/$defs/d0', $defs: { ...$defs, d40: {} } })(1)).toEqual(tooLarge)
  })

  test('where all items are compared with each other', () => {
    const validate = compileJsonSchema({ uniqueItems: true })
    const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)
    expect(validate(numbers(2000))).toEqual([])
    expect(validate(numbers(90_000))).toEqual(tooLarge)
  })

  test('where all keys are tried on all patterns', () => {
    const patterns = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`^x${at}$`, {}]))
    const value = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, 1]))
    expect(compileTrustedJsonSchema({ patternProperties: patterns })(value)).toEqual(tooLarge)
  })

  test('where a long enum is searched for every item', () => {
    const words = Array.from({ length: 50_000 }, (_, at) => `w${at}`)
    const items = { enum: words }
    expect(compileJsonSchema({ items })(Array(50_000).fill('w49999'))).toEqual(tooLarge)
  })

  test('and 90,000 plain items stay within the bound', () => {
    const validate = compileJsonSchema({ items: { type: 'object', properties: { a: { type: 'number' } } } })
    expect(validate(Array(45_000).fill({ a: 1 }))).toEqual([])
  })

  test('a value deeper than the stack is not valid, and nothing is thrown', () => {
    expect(compileJsonSchema({ additionalProperties: { $ref: '#' } })(nested(50_000))).toHaveLength(1)
  })
})

describe('issues', () => {
  test('name the value by JSON Pointer and describe each problem once', () => {
    const schema = object({
      properties: { 'a/b~c d%': { items: { type: 'number' } }, n: { minimum: 3 } },
      required: ['x'],
      additionalProperties: false,
    })
    expect(compileJsonSchema(schema)({ 'a/b~c d%': [1, 'x', null], n: 1, more: 0 })).toEqual([
      { path: '', message: 'Instance does not have required property "x".' },
      { path: '/a~1b~0c d%/1', message: 'Instance type "string" is invalid. Expected "number".' },
      { path: '/a~1b~0c d%/2', message: 'Instance type "null" is invalid. Expected "number".' },
      { path: '/n', message: '1 is less than 3.' },
      { path: '/more', message: 'Nothing is allowed here.' },
    ])
  })

  test('are at most ten', () => {
    expect(compileJsonSchema({ items: false })(Array(1000).fill(0))).toHaveLength(10)
  })

  test('of a large value are at least the first, where looking for more would cost too much', () => {
    const validate = compileJsonSchema({ items: { type: 'number' } })
    expect(validate(Array(50_000).fill('x'))).toEqual([
      { path: '/0', message: 'Instance type "string" is invalid. Expected "number".' },
    ])
  })

  test('leave out a member that is unevaluated only because it is invalid', () => {
    const validate = compileJsonSchema(object({ properties: { a: { type: 'number' } }, unevaluatedProperties: false }))
    expect(validate({ a: 'x', b: 1 })).toEqual([
      { path: '/a', message: 'Instance type "string" is invalid. Expected "number".' },
      { path: '/b', message: 'Nothing is allowed here.' },
    ])
  })

  test('of a value made in this process are those of what would be sent', () => {
    const validate = compileJsonSchema(object({ properties: { a: { type: 'number' } }, required: ['a'] }))
    expect(validate({ a: 1, b: undefined })).toEqual([])
    expect(validate({ a: undefined })).toHaveLength(1)
    expect(validate(undefined)).toEqual([{ path: '', message: 'It is not a JSON value that can be validated.' }])
    expect(validate({ a: 1n })).toHaveLength(1)
  })
})
