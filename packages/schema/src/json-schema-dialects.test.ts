import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '@x/core'
import { compileTrustedJsonSchema } from './json-schema.ts'

const draft07 = 'http://json-schema.org/draft-07/schema#'
const object = (schema: JsonObject): JsonObject => ({ type: 'object', ...schema })

/** A row: the keyword, a schema, values that are valid, values that are not. */
type Row = readonly [keyword: string, schema: JsonObject, valid: readonly unknown[], invalid: readonly unknown[]]

const rows2020: readonly Row[] = [
  [
    'if, then and else',
    JSON.parse('{"if":{"required":["kind"]},"then":{"required":["a"]},"else":{"required":["b"]}}'),
    [{ kind: 1, a: 1 }, { b: 1 }],
    [{ kind: 1, b: 1 }, { a: 1 }],
  ],
  ['type', { type: ['integer', 'null'] }, [1, 1.0, null], [1.5, '1', true]],
  ['enum and const', { enum: [1, { a: [1] }], not: { const: 1 } }, [{ a: [1] }], [1, { a: [2] }]],
  [
    'prefixItems with items',
    { prefixItems: [{ type: 'string' }], items: { type: 'number' } },
    [['a', 1], []],
    [[1], ['a', 'b']],
  ],
  ['contains', { contains: { const: 1 }, minContains: 2, maxContains: 3 }, [[1, 1, 0]], [[1], [1, 1, 1, 1]]],
  [
    'unevaluatedProperties',
    { allOf: [{ properties: { a: { type: 'number' } } }], properties: { b: true }, unevaluatedProperties: false },
    [{ a: 1, b: 2 }, {}],
    [{ c: 1 }, { a: 1, c: 1 }],
  ],
  [
    'unevaluatedItems',
    { anyOf: [{ prefixItems: [{ const: 1 }] }, { prefixItems: [{ const: 2 }, true] }], unevaluatedItems: false },
    [[1], [2, 3]],
    [[1, 2]],
  ],
  [
    'dependentRequired',
    object({ dependentRequired: { card: ['address'] } }),
    [{}, { card: 1, address: 2 }],
    [{ card: 1 }],
  ],
  [
    'dependentSchemas',
    object({ dependentSchemas: { a: { required: ['b'] } } }),
    [{ b: 1 }, { a: 1, b: 1 }],
    [{ a: 1 }],
  ],
  ['propertyNames', object({ propertyNames: { pattern: '^[a-z]+$' } }), [{ abc: 1 }], [{ A: 1 }]],
  [
    'patternProperties',
    object({ patternProperties: { '^n': { type: 'number' } }, additionalProperties: false }),
    [{ n1: 1 }],
    [{ n1: 'a' }, { x: 1 }],
  ],
  ['oneOf', { oneOf: [{ type: 'number' }, { minimum: 5 }] }, [1, 'a'], [6]],
  [
    'uniqueItems',
    { uniqueItems: true },
    [[1, '1', { a: 1 }, { a: 2 }]],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ],
  [
    'a local reference that recurs',
    object({ properties: { next: { $ref: '#' }, value: { type: 'number' } }, required: ['value'] }),
    [{ value: 1, next: { value: 2 } }],
    [{ value: 1, next: { value: 2, next: {} } }],
  ],
  [
    '$dynamicRef within the schema',
    {
      $dynamicAnchor: 'node',
      properties: { kids: { items: { $dynamicRef: '#node' } }, id: { type: 'number' } },
      required: ['id'],
    },
    [{ id: 1, kids: [{ id: 2, kids: [] }] }],
    [
      { id: 1, kids: [{}] },
      { id: 1, kids: [{ id: 'x' }] },
    ],
  ],
  [
    'names that every object inherits',
    object({ properties: { toString: { type: 'number' } }, required: ['constructor'] }),
    [{ constructor: 1 }],
    [{}, { constructor: 1, toString: 'x' }],
  ],
  ['a definition that has an id', { $ref: '#/$defs/a', $defs: { a: { $id: 'A', type: 'string' } } }, ['x'], [1]],
]

/** What the independent validator is known to take otherwise: it rounds, and does not end. */
const rowsWithoutReferee: readonly Row[] = [
  ['multipleOf', { multipleOf: 0.1 }, [0.3, 4], [0.25]],
  ['lengths in code points', { minLength: 2, maxLength: 2 }, ['🙂🙂'], ['🙂', 'abc']],
  ['siblings of $ref', { $ref: '#/$defs/a', minimum: 5, $defs: { a: { type: 'number' } } }, [5], [4, 'a']],
  [
    'an anchor',
    { properties: { a: { $ref: '#n' } }, $defs: { n: { $anchor: 'n', type: 'number' } } },
    [{ a: 1 }],
    [{ a: 'x' }],
  ],
  [
    '$dynamicRef beside $ref',
    { $ref: '#/$defs/a', $dynamicRef: '#b', $defs: { a: { minimum: 2 }, b: { $dynamicAnchor: 'b', maximum: 4 } } },
    [3],
    [1, 5],
  ],
]

const rows07: readonly Row[] = [
  [
    'items as a tuple',
    { items: [{ type: 'string' }], additionalItems: { type: 'number' } },
    [['a', 1]],
    [[1], ['a', 'b']],
  ],
  [
    'dependencies',
    { dependencies: { a: ['b'], c: { required: ['d'] } } },
    [
      { a: 1, b: 1 },
      { c: 1, d: 1 },
    ],
    [{ a: 1 }, { c: 1 }],
  ],
  [
    'keywords of later dialects, which mean nothing',
    { prefixItems: [{ type: 'string' }], unevaluatedProperties: false, dependentRequired: { a: ['b'] } },
    [[1], { a: 1 }],
    [],
  ],
]

const options = { strict: false, logger: false, ownProperties: true } as const

function expectRow(referee: Ajv, [, schema, valid, invalid]: Row): void {
  const validate = compileTrustedJsonSchema(schema)
  const reference = referee.compile(schema)
  for (const value of valid) expect([value, validate(value), reference(value)]).toEqual([value, [], true])
  for (const value of invalid) {
    expect([value, validate(value).length > 0, reference(value)]).toEqual([value, true, false])
  }
}

describe('the same values are valid as with an independent validator', () => {
  test.each(rows2020)('in 2020-12: %s [BAS-034 BAS-037 BAS-038]', (...row) => {
    expectRow(new Ajv2020(options), row)
  })

  test.each(rows07)('in draft-07: %s [BAS-038]', (keyword, schema, ...values) => {
    expectRow(new Ajv(options), [keyword, { $schema: draft07, ...schema }, ...values])
  })

  test.each(rowsWithoutReferee)('by the text of 2020-12: %s [BAS-038]', (_, schema, valid, invalid) => {
    const validate = compileTrustedJsonSchema(schema)
    expect(valid.map(validate)).toEqual(valid.map(() => []))
    for (const value of invalid) expect(validate(value)).not.toEqual([])
  })

  test('by the text of draft-07: members beside a $ref are ignored [BAS-038]', () => {
    const a = { $ref: '#/definitions/n', minimum: 5 }
    const validate = compileTrustedJsonSchema({
      $schema: draft07,
      properties: { a },
      definitions: { n: { type: 'number' } },
    })
    expect([validate({ a: 1 }), validate({ a: 'x' }).length]).toEqual([[], 1])
  })

  test('for any value and any of the schemas', () => {
    const referee = new Ajv2020({ ...options, validateSchema: false })
    const pairs = rows2020.map(
      ([, schema]) => [compileTrustedJsonSchema(schema), referee.compile({ ...schema, $comment: 'a copy' })] as const,
    )
    const key = fc.constantFrom('a', 'b', 'c', 'kind', 'card', 'value', 'next', 'n1', 'id', 'kids')
    const value = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>(1, 2, 6, 0.5, 'a', 'b', true, null),
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(key, tie('any'), { maxKeys: 4, noNullPrototype: true }),
      ),
    })).any
    fc.assert(
      fc.property(value, (any) => {
        const verdicts = pairs.map(([validate]) => validate(any).length === 0)
        expect(verdicts).toEqual(pairs.map(([, reference]) => reference(any)))
      }),
    )
  })

  test('format is an annotation, as it is in 2020-12', () => {
    expect(compileTrustedJsonSchema({ format: 'email' })('not an address')).toEqual([])
  })
})
