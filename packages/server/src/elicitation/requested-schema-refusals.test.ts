import { DefinitionError } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { AnySchema } from '../json-schema/compile-schema.ts'
import { form } from './form.ts'

const red = z.literal('#f00').meta({ title: 'Red' })
const blue = z.literal('#00f').meta({ title: 'Blue' })
const raw = (x: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties: { x }, ...more })

describe('what no form can carry is refused', () => {
  test.each<[string, z.ZodType, RegExp]>([
    ['an object', z.object({ y: z.string() }), /no objects within it.*several questions/],
    ['a record', z.record(z.string(), z.string()), /no objects within it/],
    ['an array of strings', z.array(z.string()), /choice of several strings/],
    ['an array of objects', z.array(z.object({})), /choice of several strings/],
    ['an array of numbers to choose', z.array(z.literal([1, 2])), /items: 1 is among the values; only strings/],
    ['a tuple', z.tuple([z.string()]), /"prefixItems" cannot be sent.*minItems/],
    ['anything', z.any(), /no type that a form can have; a property is/],
    ['nothing', z.null(), /always null/],
    ['a union of types', z.union([z.string(), z.number()]), /several types; a property is/],
    ['a union of types with bounds', z.union([z.string().min(2), z.number()]), /only be of literal strings/],
    ['text or null', z.string().nullable(), /can be null; make it optional/],
    ['a choice or null', z.enum(['a']).nullable(), /can be null; make it optional/],
    ['a number to choose', z.literal([1, 2]), /1 is among the values; only strings.*transform/],
    ['a yes that must be', z.literal(true), /true is among the values.*ask for a boolean/],
    ['a pattern', z.string().regex(/a/), /"pattern" cannot be sent.*beside a format only.*refine\(\)/],
    ['a pattern after a format', z.email().regex(/b/), /"allOf" cannot be sent.*refine\(\)/],
    ['a format of other kinds', z.uuid(), /format "uuid" cannot be sent.*email, uri, date, date-time.*refine/],
    ['a prefix', z.string().startsWith('a'), /format "starts_with" cannot be sent/],
    ['a secret', z.string().meta({ format: 'password' }), /secret must never.*URL mode/],
    ['Base64', z.base64(), /format "base64" cannot be sent|contentEncoding/],
    ['a number above another', z.number().positive(), /"exclusiveMinimum" cannot.*as minimum, or make it an integer/],
    ['a number below another', z.number().lt(1), /"exclusiveMaximum" cannot.*as maximum/],
    ['a multiple', z.number().multipleOf(2), /"multipleOf" cannot.*refine/],
    ['an example', z.string().meta({ examples: ['a'] }), /"examples" cannot be sent.*a string may have type, title/],
    ['a title that is no text', z.string().meta({ type: 'string', title: 5 as unknown as string }), /"title" is 5/],
    ['a default that is too short', z.string().min(3).default('a'), /default is "a".*allowed length/],
    ['a default out of bounds', z.number().max(3).default(4), /default is 4.*within the bounds/],
    ['a default with a fraction', z.int().default(1.5), /default is 1.5.*an integer/],
    ['a default that is no choice', z.enum(['a']).default('b' as 'a'), /default is "b".*one of the values/],
    ['a default twice', z.array(z.enum(['a'])).default(['a', 'a']), /default is \["a","a"\].*each once/],
    [
      'a default of too few',
      z
        .array(z.enum(['a', 'b']))
        .min(2)
        .default(['a']),
      /as many as are allowed/,
    ],
    [
      'a default of too many',
      z
        .array(z.enum(['a', 'b']))
        .max(1)
        .default(['a', 'b']),
      /as many as are allowed/,
    ],
    ['lengths out of order', z.string().min(3).max(2), /nothing is at least 3 and at most 2/],
    ['bounds out of order', z.int().gt(2).lt(3), /nothing is at least 3 and at most 2/],
    ['more choices than there are', z.array(z.enum(['a'])).min(2), /"minItems" is 2, but there are 1/],
    ['a value twice', z.union([z.literal('a'), z.literal('a')]), /"a" is listed twice/],
    ['one title for several values', z.union([red, z.enum(['a', 'b']).meta({ title: 'T' })]), /"T" is that of several/],
    ['a description of a value', z.union([red.describe('d'), blue]), /"description" cannot be sent/],
    ['a title within an array', z.array(z.enum(['a']).meta({ title: 'T' })), /items: "title" cannot be sent/],
    ['a long title', z.string().meta({ title: 't'.repeat(257) }), /"title" has 257 characters; at most 256/],
    ['a long description', z.string().describe('d'.repeat(4097)), /"description" has 4097.*at most 4096/],
    ['a long default', z.string().default('d'.repeat(4097)), /"default" has 4097/],
    ['a long value', z.literal('v'.repeat(257)), /a value to choose has 257/],
    ['too many values', z.literal(Array.from({ length: 501 }, String)), /501 values.*at most 500/],
    ['what JSON Schema has no word for', z.date(), /Date cannot be represented.*ask for a string.*transform/],
    ['a set', z.set(z.enum(['a'])), /Set cannot be represented/],
  ])('%s', (_, property, message) => {
    const refused = refusalOf(z.object({ fine: z.string(), wrong: property }))
    expect(refused).toMatchObject({ name: 'DefinitionError', code: 'schema', subject: 'form' })
    expect(refused.message).toMatch(/^form: property "wrong"/)
    expect(refused.message).toMatch(message)
  })

  test.each<[string, JsonObject, RegExp]>([
    ['a choice listed in two ways', { enum: ['a'], oneOf: [{ const: 'a', title: 'A' }] }, /exactly one of const/],
    ['a choice of nothing', { type: 'string', enum: [] }, /no values to choose from/],
    ['a choice with null', { enum: ['a', null] }, /can be null/],
    ['a choice of another type', { type: 'integer', enum: ['a'] }, /must be "string"/],
    ['a choice that is bounded as well', { type: 'string', enum: ['a'], minLength: 1 }, /"minLength" cannot be sent/],
    ['a member that is no schema', { anyOf: [true] }, /true is not a value to choose/],
    ['names of another number', { enum: ['a', 'b'], enumNames: ['A'] }, /array of 2 strings/],
    ['names that are no text', { enum: ['a'], enumNames: [1] }, /strings only/],
    [
      'names within an array',
      { type: 'array', items: { enum: ['a'], enumNames: ['A'] } },
      /"enumNames" cannot be sent/,
    ],
    ['items that must differ', { type: 'array', uniqueItems: true, items: { enum: ['a'] } }, /each at most once/],
    ['items of another type', { type: 'array', items: { type: 'integer', enum: ['a'] } }, /choice of several strings/],
    ['items without a schema', { type: 'array' }, /choice of several strings/],
    ['several types', { type: ['string', 'null'] }, /make it optional/],
    [
      'a pattern that is none',
      { type: 'string', format: 'email', pattern: '(' },
      /"pattern" is not a regular expression/,
    ],
    ['a reference to nothing', { $ref: '#/$defs/none' }, /must name an entry of the schema's own/],
    ['a reference into another field', { $ref: '#/properties/y' }, /must name an entry of the schema's own/],
    ['a reference to itself', { $ref: '#/properties/x' }, /must name an entry of the schema's own/],
    ['a long way of references', { $ref: '#/$defs/link-0' }, /through more than 16 references/],
    ['a reference with a bound', { $ref: '#/$defs/text', minLength: 2 }, /"minLength" cannot be sent.*a reference/],
    ['a default of another type', { type: 'string', default: 5 }, /default is 5.*a string.*prefault/],
    ['a length with a fraction', { type: 'string', minLength: 1.5 }, /whole number/],
    ['a negative length', { type: 'string', minLength: -1 }, /whole number/],
    ['a bound that is no number', { type: 'number', minimum: '1' }, /it must be a number|minimum/],
  ])('written as JSON Schema: %s', (_, property, message) => {
    const links = Array.from({ length: 16 }, (_, at) => [`link-${at}`, { $ref: `#/$defs/link-${at + 1}` }])
    const $defs: JsonObject = { ...Object.fromEntries(links), 'link-16': { type: 'string' }, text: { type: 'string' } }
    expect(refusalOf({ type: 'object', properties: { x: property, y: { type: 'string' } }, $defs }).message).toMatch(
      message,
    )
  })

  test.each<[string, AnySchema, RegExp]>([
    ['a string', z.string(), /one object, as z\.object/],
    ['an array', z.array(z.string()), /one object/],
    ['a union of objects', z.discriminatedUnion('a', [z.object({ a: z.literal('b') })]), /no union of several/],
    ['a record', z.record(z.string(), z.string()), /"propertyNames" cannot be sent.*a form may have type, properties/],
    ['more fields of a kind', z.object({}).catchall(z.string()), /"additionalProperties" can be true or false/],
    ['a title of the whole', z.object({}).meta({ title: 'T' }), /say it in the message of the question/],
    ['a default of the whole', z.object({}).default({}), /"default" cannot be sent/],
    ['a condition', { type: 'object', properties: {}, minProperties: 1 }, /"minProperties" cannot be sent/],
    ['a field that is no schema', { type: 'object', properties: { x: true } }, /property "x": its schema is true/],
    ['a field without a name', { type: 'object', properties: { '': { type: 'string' } } }, /needs a name/],
    ['a required field that is none', raw({ type: 'string' }, { required: ['y'] }), /"required" names/],
    [
      'a field with a long name',
      { type: 'object', properties: { ['n'.repeat(257)]: { type: 'string' } } },
      /its name has 257/,
    ],
    [
      'too many fields',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [at, { type: 'string' }])),
      },
      /at most 100 properties, and this has 101/,
    ],
  ])('as a whole: %s', (_, schema, message) => {
    expect(refusalOf(schema).message).toMatch(message)
  })

  test('in the name that the form was given', () => {
    expect(() => form(z.string(), 'tool "greet", question')).toThrow(/^tool "greet", question: the schema: a form/)
  })
})

function refusalOf(schema: AnySchema): Error {
  try {
    form(schema)
  } catch (error) {
    if (error instanceof DefinitionError) return error
    throw error
  }
  return new Error('It was not refused.')
}
