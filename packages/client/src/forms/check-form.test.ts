import type { PrimitiveSchemaDefinition, RequestedSchema } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { checkForm } from './check-form.ts'

const formOf = (field: PrimitiveSchemaDefinition, required: readonly string[] = []): RequestedSchema => ({
  type: 'object',
  properties: { it: field },
  required,
})

const titled = [
  { const: 'r', title: 'Red' },
  { const: 'g', title: 'Green' },
]
const single = { type: 'string', enum: ['r', 'g'] } as const
const titledSingle = { type: 'string', oneOf: titled } as const
const legacy = { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] } as const
const multi = { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['r', 'g', 'b'] } } as const
const titledMulti = { type: 'array', items: { anyOf: titled } } as const
const text = { type: 'string', minLength: 2, maxLength: 3 } as const

describe('A field', () => {
  test.each<[PrimitiveSchemaDefinition, unknown]>([
    [{ type: 'string' }, ''],
    [text, 'ab'],
    [text, '\u{1f600}\u{1f600}\u{1f600}'],
    [{ type: 'string', format: 'email' }, 'ada@example.com'],
    [{ type: 'string', format: 'uri' }, 'urn:isbn:1'],
    [{ type: 'string', format: 'date' }, '2024-02-29'],
    [{ type: 'string', format: 'date-time' }, '2026-07-28T12:00:00.5+02:00'],
    [{ type: 'number', minimum: 0, maximum: 1 }, 0.5],
    [{ type: 'integer', minimum: 1, maximum: 1 }, 1],
    [{ type: 'boolean' }, false],
    [single, 'g'],
    [titledSingle, 'g'],
    [legacy, 'r'],
    [multi, ['r', 'b']],
    [titledMulti, []],
  ])('%j takes %j', (field, value) => {
    expect(checkForm(formOf(field), { it: value })).toEqual({ content: { it: value } })
  })

  test.each<[PrimitiveSchemaDefinition, unknown, string]>([
    [{ type: 'string' }, 7, 'a string'],
    [{ type: 'string' }, null, 'a string'],
    [{ type: 'string' }, { toString: 'x' }, 'a string'],
    [text, 'a', 'at least 2 characters'],
    [text, 'abcd', 'at most 3 characters'],
    [{ type: 'string', format: 'email' }, 'ada', 'an e-mail address'],
    [{ type: 'string', format: 'uri' }, '/relative', 'an absolute URI'],
    [{ type: 'string', format: 'date' }, '2026-02-30', 'a date'],
    [{ type: 'string', format: 'date' }, '28.07.2026', 'a date'],
    [{ type: 'string', format: 'date-time' }, '2026-07-28', 'a time'],
    [{ type: 'string', format: 'date-time' }, '2026-02-30T12:00:00Z', 'a time'],
    [{ type: 'string', format: 'date-time' }, '2026-07-28T25:00:00Z', 'a time'],
    [{ type: 'number', minimum: 0 }, -1, 'at least 0'],
    [{ type: 'number', maximum: 1 }, 2, 'at most 1'],
    [{ type: 'number' }, Number.NaN, 'a number'],
    [{ type: 'number' }, '1', 'a number'],
    [{ type: 'integer' }, 1.5, 'a whole number'],
    [{ type: 'boolean' }, 'true', 'a boolean'],
    [single, 'x', 'one of the options'],
    [titledSingle, 'Red', 'one of the options'],
    [legacy, 'Red', 'one of the options'],
    [multi, [], 'at least 1 of the options'],
    [multi, ['r', 'g', 'b'], 'at most 2 of the options'],
    [multi, 'r', 'a list of strings'],
    [multi, [1], 'a list of strings'],
    [titledMulti, ['Red'], 'nothing but the options'],
  ])('%j does not take %j', (field, value, expected) => {
    expect(checkForm(formOf(field), { it: value })).toEqual({
      issue: expect.stringContaining(`content "it": expected ${expected}`),
    })
  })
})

describe('A field with a member of another kind under the name of its choice', () => {
  test.each([
    ['takes any text', '{"type":"string","enum":5}', 'a'],
    ['takes any text', '{"type":"string","oneOf":{}}', 'a'],
    ['takes any text', '{"type":"string","enum":["r",1]}', 'a'],
    ['takes one of its names', '{"type":"string","oneOf":"r","enum":["r"]}', 'r'],
    ['takes several of its titles', '{"type":"array","items":{"enum":7,"anyOf":[{"const":"r","title":"Red"}]}}', ['r']],
    ['takes several of its names', '{"type":"array","items":{"type":"string","enum":["r"],"anyOf":null}}', ['r']],
  ])('%s: %s', (_title, field, value) => {
    expect(checkForm(formOf(JSON.parse(field)), { it: value })).toEqual({ content: { it: value } })
  })
})

describe('A field that is left out', () => {
  const withDefaults: RequestedSchema = {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive'], default: 'active' },
      colours: { ...multi, default: ['r'] },
      verified: { type: 'boolean', default: false },
      note: { type: 'string' },
    },
    required: ['name'],
  }

  test('gets the default of the schema, of any type', () => {
    expect(checkForm(withDefaults, { age: 31 })).toEqual({
      content: { name: 'John Doe', age: 31, score: 95.5, status: 'active', colours: ['r'], verified: false },
    })
  })

  test('is left empty when it is undefined, unless it is required', () => {
    const { content } = { content: {}, ...checkForm(withDefaults, { score: undefined, colours: undefined }) }
    expect(Object.keys(content)).toEqual(['name', 'age', 'status', 'verified'])
    expect(checkForm(withDefaults, { name: undefined })).toEqual({ issue: 'content "name": it is required' })
  })

  test('is missing when it is required and has no default', () => {
    expect(checkForm(formOf({ type: 'string' }, ['it']), {})).toEqual({ issue: 'content "it": it is required' })
  })
})

describe('The names of fields', () => {
  test('are those of the form: nothing else is sent', () => {
    const issue = 'content "password": the form has no such field'
    expect(checkForm(formOf({ type: 'string' }), { it: 'x', password: 'y' })).toEqual({ issue })
    expect(checkForm(formOf({ type: 'string' }), { constructor: 'y' })).toHaveProperty('issue')
  })

  test('may be those that every object has', () => {
    const schema: RequestedSchema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"toString":{"type":"string"}},"required":["toString"]}',
    )
    expect(checkForm(schema, {})).toEqual({ issue: 'content "toString": it is required' })
    const checked = checkForm(schema, JSON.parse('{"__proto__":"a","toString":"b"}'))
    expect(JSON.stringify(checked)).toBe('{"content":{"__proto__":"a","toString":"b"}}')
  })
})
