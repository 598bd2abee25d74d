import type { JsonObject } from '@x/schema'
import { expect, test } from 'vitest'
import type { Draft, FieldKind } from './field.ts'
import { toolFields } from './tool-fields.ts'

const options = [{ value: 'a', label: 'a' }]

test.each<[string, JsonObject, FieldKind, Draft]>([
  ['a text', { type: 'string', minLength: 1 }, { type: 'text', minLength: 1 }, ''],
  ['an integer', { type: 'integer', default: 50 }, { type: 'number', whole: true }, '50'],
  ['a number', { type: 'number', minimum: 0 }, { type: 'number', whole: false, minimum: 0 }, ''],
  ['yes or no', { type: 'boolean', default: true }, { type: 'flag' }, true],
  ['a choice', { type: 'string', enum: ['a'] }, { type: 'choice', options }, ''],
  ['a titled choice', { oneOf: [{ const: 'a', title: 'a' }] }, { type: 'choice', options }, ''],
  [
    'several choices',
    { type: 'array', items: { enum: ['a'] }, maxItems: 3 },
    { type: 'choices', options, maxItems: 3 },
    [],
  ],
  [
    'values by name',
    { type: 'object', additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
    { type: 'entries' },
    [{ name: '', value: '' }],
  ],
  [
    'values by name with a default',
    { type: 'object', additionalProperties: { type: 'string' }, default: { a: 'b', c: '' } },
    { type: 'entries' },
    [
      { name: 'a', value: 'b' },
      { name: 'c', value: '""' },
    ],
  ],
  ['numbers by name', { type: 'object', additionalProperties: { type: 'number' } }, { type: 'json' }, ''],
  ['an object', { type: 'object', properties: { a: {} }, default: { a: 1 } }, { type: 'json' }, '{"a":1}'],
  ['a list of anything', { type: 'array', items: {} }, { type: 'json' }, ''],
  ['a choice that is not of texts', { enum: ['a', 1] }, { type: 'json' }, ''],
  ['a union', { anyOf: [{ type: 'string' }, { const: 'a' }] }, { type: 'json' }, ''],
  ['a schema that says nothing', {}, { type: 'json' }, ''],
])('%s becomes a field', (_, property, kind, initial) => {
  const [field] = toolFields({ type: 'object', properties: { one: property } })
  expect(field?.kind).toEqual(kind)
  expect(field?.initial).toEqual(initial)
})

test('a list of whole numbers is written as JSON', () => {
  const schema: JsonObject = { properties: { one: { type: 'array', items: { type: 'integer' } } } }
  expect(toolFields(schema)[0]?.kind).toEqual({ type: 'json' })
})

test('a schema that is not what it should be makes no field, or one for JSON', () => {
  expect(toolFields({ type: 'object' })).toEqual([])
  expect(toolFields({ properties: [] })).toEqual([])
  const [field] = toolFields({ properties: { one: true }, required: 'one' })
  expect(field).toMatchObject({ name: 'one', label: 'One', required: false, kind: { type: 'json' } })
})
