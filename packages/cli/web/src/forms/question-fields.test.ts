import type { PrimitiveSchemaDefinition } from '@x/schema'
import { expect, test } from 'vitest'
import type { Draft, FieldKind } from './field.ts'
import { questionFields } from './question-fields.ts'

const [red, blue] = [
  { value: 'r', label: 'Red' },
  { value: 'b', label: 'Blue' },
]
const bare = [
  { value: 'r', label: 'r' },
  { value: 'b', label: 'b' },
]
const titled = [
  { const: 'r', title: 'Red' },
  { const: 'b', title: 'Blue' },
]

test.each<[string, PrimitiveSchemaDefinition, FieldKind, Draft]>([
  ['a text', { type: 'string', minLength: 2, maxLength: 5 }, { type: 'text', minLength: 2, maxLength: 5 }, ''],
  ['a text with a default', { type: 'string', default: 'x' }, { type: 'text' }, 'x'],
  ['an address', { type: 'string', format: 'email' }, { type: 'text', format: 'email' }, ''],
  ['a number', { type: 'number', maximum: 1.5, default: 0 }, { type: 'number', whole: false, maximum: 1.5 }, '0'],
  ['an integer', { type: 'integer', minimum: 1 }, { type: 'number', whole: true, minimum: 1 }, ''],
  ['yes or no', { type: 'boolean' }, { type: 'flag' }, false],
  ['yes or no with a default', { type: 'boolean', default: true }, { type: 'flag' }, true],
  ['one of bare values', { type: 'string', enum: ['r', 'b'], default: 'b' }, { type: 'choice', options: bare }, 'b'],
  ['one of titled values', { type: 'string', oneOf: titled }, { type: 'choice', options: [red, blue] }, ''],
  [
    'one of values with the names of earlier revisions',
    { type: 'string', enum: ['r', 'b'], enumNames: ['Red', 'Blue'] },
    { type: 'choice', options: [red, blue] },
    '',
  ],
  [
    'several bare values',
    { type: 'array', items: { type: 'string', enum: ['r', 'b'] }, minItems: 1 },
    { type: 'choices', options: bare, minItems: 1 },
    [],
  ],
  [
    'several titled values with a default',
    { type: 'array', items: { anyOf: titled }, maxItems: 2, default: ['b'] },
    { type: 'choices', options: [red, blue], maxItems: 2 },
    ['b'],
  ],
])('%s becomes a field', (_, definition, kind, initial) => {
  const [field] = questionFields({ type: 'object', properties: { one: definition } })
  expect(field?.kind).toEqual(kind)
  expect(field?.initial).toEqual(initial)
})

test('fields keep their order, and have the label and the description of the schema', () => {
  const properties: Record<string, PrimitiveSchemaDefinition> = {
    duplicateOfId: { type: 'integer', description: 'The original' },
    reason: { type: 'string', title: 'Why?' },
  }
  const fields = questionFields({ type: 'object', properties, required: ['reason'] })
  expect(fields.map(({ label, description, required }) => [label, description, required])).toEqual([
    ['Duplicate of id', 'The original', false],
    ['Why?', undefined, true],
  ])
})

test('a default time is shown in the field in local time', () => {
  const moment = '2026-07-28T12:30:15Z'
  const [field] = questionFields({
    type: 'object',
    properties: { at: { type: 'string', format: 'date-time', default: moment } },
  })
  expect(new Date(String(field?.initial)).getTime()).toBe(Date.parse(moment))
})
