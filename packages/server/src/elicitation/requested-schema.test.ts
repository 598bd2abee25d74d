import type { JsonObject, PrimitiveSchemaDefinition } from '@x/schema'
import { shapes, zodOf } from '@x/schema/zod'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { AnySchema } from '../json-schema/compile-schema.ts'
import { form } from './form.ts'

/** The form of a schema, as the published validator takes it. */
function sent(schema: AnySchema): unknown {
  return zodOf(shapes.elicitRequestFormParams).parse({ message: 'm', requestedSchema: form(schema).requestedSchema })
    .requestedSchema
}

const asked = (property: z.ZodType) => sent(z.object({ x: property }))
const required = (x: PrimitiveSchemaDefinition) => ({ type: 'object', properties: { x }, required: ['x'] })
const optional = (x: PrimitiveSchemaDefinition) => ({ type: 'object', properties: { x } })
const raw = (x: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties: { x }, ...more })

const red = z.literal('#f00').meta({ title: 'Red' })
const blue = z.literal('#00f').meta({ title: 'Blue' })
const colours = [
  { const: '#f00', title: 'Red' },
  { const: '#00f', title: 'Blue' },
]

describe('a property of a form', () => {
  test.each<[string, z.ZodType, PrimitiveSchemaDefinition]>([
    ['a string', z.string(), { type: 'string' }],
    ['a string of some length', z.string().min(3).max(50), { type: 'string', minLength: 3, maxLength: 50 }],
    ['a string of one length', z.string().length(4), { type: 'string', minLength: 4, maxLength: 4 }],
    ['an e-mail address', z.email(), { type: 'string', format: 'email' }],
    ['a URL', z.url(), { type: 'string', format: 'uri' }],
    ['a web address', z.httpUrl(), { type: 'string', format: 'uri' }],
    ['a date', z.iso.date(), { type: 'string', format: 'date' }],
    ['a time on a date', z.iso.datetime({ offset: true }), { type: 'string', format: 'date-time' }],
    ['a format with a length', z.email().max(99), { type: 'string', format: 'email', maxLength: 99 }],
    ['a number', z.number(), { type: 'number' }],
    ['a number in bounds', z.number().min(0.5).max(9), { type: 'number', minimum: 0.5, maximum: 9 }],
    ['an integer, without the bounds of safe ones', z.int(), { type: 'integer' }],
    ['an integer in bounds', z.int().min(18).max(120), { type: 'integer', minimum: 18, maximum: 120 }],
    ['an integer between bounds', z.int().gt(2).lt(7), { type: 'integer', minimum: 3, maximum: 6 }],
    ['an integer above a fraction', z.int().gt(2.5).max(6.5), { type: 'integer', minimum: 3, maximum: 6 }],
    ['an integer below a fraction', z.int().lt(7.5), { type: 'integer', maximum: 7 }],
    ['an integer from a fraction', z.int().min(0.5).lt(2), { type: 'integer', minimum: 1, maximum: 1 }],
    ['a positive integer', z.number().int().positive(), { type: 'integer', minimum: 1 }],
    ['a boolean', z.boolean(), { type: 'boolean' }],
    ['a choice of one', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['a choice of literals', z.literal(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['a literal', z.literal('a'), { type: 'string', enum: ['a'] }],
    ['a union of choices', z.union([z.enum(['a', 'b']), z.literal('c')]), { type: 'string', enum: ['a', 'b', 'c'] }],
    ['an exclusive union', z.xor([z.literal('a'), z.literal('b')]), { type: 'string', enum: ['a', 'b'] }],
    ['a choice of one with titles', z.union([red, blue]), { type: 'string', oneOf: colours }],
    [
      'a choice with some titles',
      z.union([red, z.literal('none')]),
      {
        type: 'string',
        oneOf: [
          { const: '#f00', title: 'Red' },
          { const: 'none', title: 'none' },
        ],
      },
    ],
    [
      'a choice of several',
      z
        .array(z.enum(['a', 'b', 'c']))
        .min(1)
        .max(2),
      { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['a', 'b', 'c'] } },
    ],
    ['a choice of several with titles', z.array(z.union([red, blue])), { type: 'array', items: { anyOf: colours } }],
    [
      'a title and a description',
      z.string().meta({ title: 'Name', description: 'Your full name' }),
      { type: 'string', title: 'Name', description: 'Your full name' },
    ],
    ['a description', z.boolean().describe('Really?'), { type: 'boolean', description: 'Really?' }],
    [
      'words for a choice with titles',
      z.union([red, blue]).meta({ title: 'Colour', description: 'Which?' }),
      { type: 'string', title: 'Colour', description: 'Which?', oneOf: colours },
    ],
    ['text for a number', z.coerce.number(), { type: 'number' }],
    ['text for what is made of it', z.string().transform((text) => text.length), { type: 'string' }],
    ['text for a date', z.iso.date().pipe(z.coerce.date()), { type: 'string', format: 'date' }],
    ['text that is refined', z.string().refine((text) => text !== 'no'), { type: 'string' }],
    ['a type that has a name', z.string().min(2).meta({ id: 'short-name' }), { type: 'string', minLength: 2 }],
    [
      'several of a choice that has a name',
      z.array(z.enum(['a', 'b']).meta({ id: 'named-choice' })),
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
    ],
  ])('is %s', (_, property, expected) => {
    expect(asked(property)).toEqual(required(expected))
  })

  test.each<[string, z.ZodType, PrimitiveSchemaDefinition]>([
    ['optional', z.string().optional(), { type: 'string' }],
    ['filled in after it is turned', z.string().transform(Number).default(5), { type: 'string' }],
    ['filled in with a text', z.string().min(1).default('a'), { type: 'string', minLength: 1, default: 'a' }],
    ['filled in before it is turned', z.string().transform(Number).prefault('5'), { type: 'string', default: '5' }],
    ['filled in with a number', z.number().max(50).default(50), { type: 'number', maximum: 50, default: 50 }],
    ['filled in with a no', z.boolean().default(false), { type: 'boolean', default: false }],
    ['filled in with a choice', z.enum(['a', 'b']).default('b'), { type: 'string', enum: ['a', 'b'], default: 'b' }],
    [
      'filled in with a titled choice',
      z.union([red, blue]).default('#00f'),
      { type: 'string', oneOf: colours, default: '#00f' },
    ],
    [
      'filled in with several choices',
      z.array(z.enum(['a', 'b'])).default(['a', 'b']),
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, default: ['a', 'b'] },
    ],
    [
      'filled in with several titled choices',
      z.array(z.union([red, blue])).default(['#f00']),
      { type: 'array', items: { anyOf: colours }, default: ['#f00'] },
    ],
    [
      'a named type with a default and words of its own',
      z.string().meta({ id: 'named-text', title: 'T' }).default('a').describe('D'),
      { type: 'string', title: 'T', description: 'D', default: 'a' },
    ],
  ])('need not be there when it is %s', (_, property, expected) => {
    expect(asked(property)).toEqual(optional(expected))
  })

  test.each<[string, JsonObject, PrimitiveSchemaDefinition]>([
    [
      'the older form with names, which goes out as it is written',
      { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'], default: 'a' },
      { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'], default: 'a' },
    ],
    ['a choice that says no type', { enum: ['a'] }, { type: 'string', enum: ['a'] }],
    ['a choice by oneOf', { type: 'string', oneOf: colours }, { type: 'string', oneOf: colours }],
    ['several by anyOf', { type: 'array', items: { anyOf: colours } }, { type: 'array', items: { anyOf: colours } }],
    [
      'a default of as many characters',
      { type: 'string', maxLength: 2, default: '😀😀' },
      {
        type: 'string',
        maxLength: 2,
        default: '😀😀',
      },
    ],
  ])('written as JSON Schema is %s', (_, property, expected) => {
    expect(sent(raw(property))).toEqual(optional(expected))
  })
})

describe('a form', () => {
  test.each<[string, AnySchema]>([
    ['a strict object', z.strictObject({ x: z.string() })],
    ['an open object', z.looseObject({ x: z.string() })],
    ['a refined object', z.object({ x: z.string() }).refine(() => true)],
    ['an object that is turned into something', z.object({ x: z.string() }).transform(({ x }) => x)],
    ['an object that has a name', z.object({ x: z.string() }).meta({ id: 'named-form' })],
    ['an object behind a lazy schema', z.lazy(() => z.object({ x: z.string() }))],
    ['JSON Schema', raw({ type: 'string' }, { required: ['x'] })],
    ['closed JSON Schema', raw({ type: 'string' }, { required: ['x'], additionalProperties: false })],
    [
      'JSON Schema of draft-07 with definitions',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { x: { $ref: '#/definitions/a~1b' } },
        required: ['x'],
        definitions: { 'a/b': { type: 'string' } },
      },
    ],
  ])('comes from %s', (_, schema) => {
    expect(sent(schema)).toEqual(required({ type: 'string' }))
  })

  test('without fields asks for no more than a yes', () => {
    expect(sent(z.object({}))).toEqual({ type: 'object', properties: {} })
  })

  test('of two objects has the fields of both, in their order', () => {
    const both = z.object({ b: z.string() }).and(z.object({ a: z.string().optional() }))
    expect(JSON.stringify(form(both).requestedSchema)).toBe(
      '{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}},"required":["b"]}',
    )
  })

  test('cannot be changed by one call for the next', () => {
    const { requestedSchema } = form(z.object({ x: z.array(z.union([red, blue])).default(['#f00']), y: z.enum(['a']) }))
    const open: unknown[] = []
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      if (!Object.isFrozen(value)) open.push(value)
      Object.values(value).forEach(visit)
    }
    visit(requestedSchema)
    expect(open).toEqual([])
  })

  test('may have a field called __proto__', () => {
    const schema: JsonObject = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')
    expect(JSON.stringify(form(schema).requestedSchema)).toBe(JSON.stringify(schema))
  })

  test('may be as large as is allowed', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [String(index).padStart(256, 'n'), { type: 'string' }]),
    )
    expect(sent({ type: 'object', properties })).toEqual({ type: 'object', properties })
    const values = Array.from({ length: 500 }, (_, index) => String(index).padStart(256, 'v'))
    const x = { type: 'string', enum: values, description: 'd'.repeat(4096) } as const
    expect(sent(raw(x))).toEqual(optional(x))
  })
})
