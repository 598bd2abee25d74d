import { toStandardJsonSchema } from '@valibot/to-json-schema'
import type { JsonObject } from '@x/schema'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { AnySchema } from '../json-schema/compile-schema.ts'
import { type FormContentOf, type Form, form, formOf } from './form.ts'

const contact = z.object({ name: z.string(), age: z.coerce.number().min(18).optional() })

const oneField = (x: JsonObject): JsonObject => {
  return { type: 'object', properties: { x }, required: ['x'], additionalProperties: false }
}

describe('an answer', () => {
  test('is given to the handler as the schema leaves it', async () => {
    const when = form(
      z.object({
        day: z.iso.date().transform((day) => new Date(day)),
        sure: z.boolean().default(true),
        tags: z.array(z.enum(['a', 'b'])).transform((tags) => new Set(tags)),
      }),
    )
    expect(await when.check({ day: '2026-07-28', tags: ['a'], unasked: 1 })).toEqual({
      value: { day: new Date('2026-07-28'), sure: true, tags: new Set(['a']) },
    })
  })

  test.each<[string, AnySchema, unknown, string, RegExp]>([
    ['breaks a pattern that no client saw', z.object({ x: z.email() }), { x: 'a@b' }, '/x', /email/],
    ['is refused by refine()', z.object({ x: z.string().refine(() => false, 'not so') }), { x: '' }, '/x', /not so/],
    ['chooses what was not listed', z.object({ x: z.enum(['a']) }), { x: 'b' }, '/x', /a/],
    ['leaves out what is required', z.object({ x: z.string() }), {}, '/x', /string/],
    ['is not there', z.object({}), undefined, '', /object/],
    ['has more than a strict object', z.strictObject({}), { x: 1 }, '', /x/],
    ['breaks JSON Schema', { type: 'object', properties: { x: { enum: ['a'] } } }, { x: 'b' }, '/x', /./],
    ['leaves out what JSON Schema requires', oneField({ type: 'boolean' }), {}, '/x', /required/],
    ['breaks a format', oneField({ type: 'string', format: 'date' }), { x: '2026-02-30' }, '/x', /a date/],
    ['breaks a pattern', oneField({ type: 'string', format: 'email', pattern: '@b$' }), { x: 'a@c' }, '/x', /@b\$/],
    [
      'has more than a closed object',
      { type: 'object', properties: {}, additionalProperties: false },
      { '/': 1 },
      '/~1',
      /no such/,
    ],
    ['is no object', oneField({ type: 'boolean' }), [true], '', /an object/],
    ['is an integer past the safe ones', z.object({ x: z.int() }), { x: 2 ** 60 }, '/x', /int/],
  ])('is refused with its path when it %s', async (_, schema, content, path, message) => {
    const checked = await form(schema).check(content)
    expect(checked.issues).toEqual([{ path, message: expect.stringMatching(message) }])
  })

  test('may take time to be checked', async () => {
    const slow = form(z.object({ x: z.string().refine(async (x) => x === 'free', 'taken') }))
    expect(await slow.check({ x: 'free' })).toEqual({ value: { x: 'free' } })
    expect(await slow.check({ x: 'no' })).toEqual({ issues: [{ path: '/x', message: 'taken' }] })
  })
})

test('a form comes from valibot as well', async () => {
  const schema = v.object({
    email: v.pipe(v.string(), v.email(), v.title('E-mail')),
    age: v.optional(v.pipe(v.number(), v.integer(), v.minValue(18)), 20),
    colour: v.union([v.pipe(v.literal('#f00'), v.title('Red')), v.pipe(v.literal('#00f'), v.title('Blue'))]),
    sizes: v.array(v.picklist(['s', 'm'])),
    sure: v.exactOptional(v.boolean()),
  })
  const { requestedSchema, check } = form(toStandardJsonSchema(schema))
  expect(requestedSchema).toEqual({
    type: 'object',
    properties: {
      email: { type: 'string', format: 'email', title: 'E-mail' },
      age: { type: 'integer', minimum: 18, default: 20 },
      colour: {
        type: 'string',
        oneOf: [
          { const: '#f00', title: 'Red' },
          { const: '#00f', title: 'Blue' },
        ],
      },
      sizes: { type: 'array', items: { type: 'string', enum: ['s', 'm'] } },
      sure: { type: 'boolean' },
    },
    required: ['email', 'colour', 'sizes'],
  })
  const answer = { email: 'a@b.co', colour: '#f00', sizes: [] }
  expect(await check(answer)).toMatchObject({ value: { ...answer, age: 20 } })
  expect(() => form(toStandardJsonSchema(v.object({ x: v.nullable(v.string()) })))).toThrow(/"x": .*make it optional/)
})

describe('formOf', () => {
  test('gives a form as it is', () => {
    const made = form(contact)
    expect(formOf(made)).toBe(made)
  })

  test.each<[string, AnySchema]>([
    ['zod', z.object({})],
    ['JSON Schema', { type: 'object', properties: {} }],
    ['valibot', toStandardJsonSchema(v.object({}))],
  ])('turns a schema of %s once', (_, schema) => {
    expect(formOf(schema)).toBe(formOf(schema))
  })

  test.each([
    ['keeps the form of a schema that was used twice', 2, true],
    ['forgets the form of a schema that was used once', 1, false],
  ])('%s before 64 others', (_, uses, isKept) => {
    // A schema without code would have the form of the first one of its structure.
    const schema = z.object({ again: z.boolean().refine(() => true) })
    const forms = Array.from({ length: uses }, () => formOf(schema))
    for (let index = 0; index < 64; index++) formOf(z.object({ other: z.boolean() }))
    expect(formOf(schema) === forms[0]).toBe(isKept)
  })

  test('takes JSON Schema with fields of such names for what it is', () => {
    const schema: JsonObject = { type: 'object', properties: {}, requestedSchema: {}, check: {} }
    expect(() => formOf(schema)).toThrow(/"requestedSchema" cannot be sent/)
  })

  test('refuses what no form can carry, each time', () => {
    const schema = z.object({ x: z.object({}) })
    expect(() => formOf(schema)).toThrow(/"x"/)
    expect(() => formOf(schema)).toThrow(/"x"/)
  })
})

test('types follow from the schema', () => {
  interface Contact {
    name: string
    age?: number | undefined
  }
  const made = form(contact)
  expectTypeOf(made).toEqualTypeOf<Form<Contact>>()
  expectTypeOf<FormContentOf<typeof made>>().toEqualTypeOf<Contact>()
  expectTypeOf<FormContentOf<typeof contact>>().toEqualTypeOf<Contact>()
  expectTypeOf<FormContentOf<JsonObject>>().toEqualTypeOf<JsonObject>()
  expectTypeOf(form({ type: 'object', properties: {} })).toEqualTypeOf<Form<JsonObject>>()
  expectTypeOf(form(z.object({ x: z.string().transform(Number) }))).toEqualTypeOf<Form<{ x: number }>>()
  expectTypeOf(made).toExtend<Form<unknown>>()
  // @ts-expect-error: an answer without an age is no answer with one
  const other: Form<{ name: string; age: number }> = made
  expect(other.requestedSchema.required).toEqual(['name'])
})
