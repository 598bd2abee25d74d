import type { PrimitiveSchemaDefinition, RequestedSchema } from '@x/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkForm } from './check-form.ts'
import { type FormField, readForm } from './form.ts'

const titled = [
  { const: 'r', title: 'Red' },
  { const: 'g', title: 'Green' },
]
const bare = [
  { value: 'r', label: 'r' },
  { value: 'g', label: 'g' },
]
const named = [
  { value: 'r', label: 'Red' },
  { value: 'g', label: 'Green' },
]

function fieldOf(definition: PrimitiveSchemaDefinition, required = false): FormField {
  const properties = { it: definition }
  const [field] = readForm({ type: 'object', properties, ...(required && { required: ['it'] }) }).fields
  if (field === undefined) throw new Error('the form has no field')
  return field
}

describe('A definition becomes a field', () => {
  test.each<[string, PrimitiveSchemaDefinition, Partial<FormField>]>([
    ['a text', { type: 'string', minLength: 2, default: 'ab' }, { type: 'text', minLength: 2, default: 'ab' }],
    ['an address', { type: 'string', format: 'email' }, { type: 'text', format: 'email', default: undefined }],
    [
      'a number',
      { type: 'number', maximum: 1, default: 0 },
      { type: 'number', isInteger: false, maximum: 1, default: 0 },
    ],
    ['an integer', { type: 'integer', minimum: 1 }, { type: 'number', isInteger: true, minimum: 1 }],
    ['a yes or no', { type: 'boolean', default: false }, { type: 'boolean', default: false }],
    ['a choice', { type: 'string', enum: ['r', 'g'], default: 'g' }, { type: 'choice', choices: bare, default: 'g' }],
    ['a titled choice', { type: 'string', oneOf: titled }, { type: 'choice', choices: named }],
    [
      'a choice with the names of earlier revisions',
      { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
      { type: 'choice', choices: named },
    ],
    [
      'several choices',
      { type: 'array', items: { type: 'string', enum: ['r', 'g'] }, minItems: 1, maxItems: 2 },
      { type: 'choices', choices: bare, minItems: 1, maxItems: 2 },
    ],
    [
      'several titled choices',
      { type: 'array', items: { anyOf: titled }, default: ['r'] },
      { type: 'choices', choices: named, default: ['r'] },
    ],
  ])('%s', (_, definition, expected) => {
    expect(fieldOf(definition)).toMatchObject(expected)
  })

  test.each<[PrimitiveSchemaDefinition]>([
    [{ type: 'string', enum: ['r'], default: 'x' }],
    [{ type: 'integer', default: 1.5 }],
    [{ type: 'string', maxLength: 1, default: 'ab' }],
    [{ type: 'array', items: { anyOf: titled }, default: ['r', 'x'] }],
  ])('without a default that does not fit: %j', (definition) => {
    expect(fieldOf(definition).default).toBeUndefined()
  })

  test('in the order of the schema, with a label, a description and the required mark', () => {
    const properties: Record<string, PrimitiveSchemaDefinition> = {
      duplicateOf_id: { type: 'integer', description: 'The original' },
      reason: { type: 'string', title: 'Why?' },
      _: { type: 'boolean', title: '' },
    }
    const { fields } = readForm({ type: 'object', properties, required: ['reason'] })
    expect(fields.map(({ label, description, required }) => [label, description, required])).toEqual([
      ['Duplicate of id', 'The original', false],
      ['Why?', undefined, true],
      ['_', undefined, false],
    ])
  })
})

describe('The check of a field names a right value', () => {
  test.each<[PrimitiveSchemaDefinition, unknown, string]>([
    [{ type: 'string' }, undefined, 'This is required'],
    [{ type: 'string', minLength: 1 }, '', 'Write at least 1 character'],
    [{ type: 'string', maxLength: 2 }, 'abc', 'Write at most 2 characters'],
    [{ type: 'string', format: 'date' }, '2026-02-30', 'Write a date such as 2026-07-28'],
    [{ type: 'integer' }, 1.5, 'Write a whole number'],
    [{ type: 'number' }, Number.NaN, 'Write a number'],
    [{ type: 'number', minimum: 3 }, 2, 'Write at least 3'],
    [{ type: 'boolean' }, 'yes', 'Choose yes or no'],
    [{ type: 'string', enum: ['r'] }, 'x', 'Choose one of the options of the form'],
    [{ type: 'array', items: { anyOf: titled }, minItems: 1 }, [], 'Choose at least 1 of the options'],
    [{ type: 'array', items: { anyOf: titled } }, ['x'], 'Choose nothing but the options of the form'],
  ])('%j: %j', (definition, value, issue) => {
    expect(fieldOf(definition, true).check(value)).toBe(issue)
  })

  test.each<[PrimitiveSchemaDefinition, string, unknown]>([
    [{ type: 'string' }, '', undefined],
    [{ type: 'string' }, ' a ', ' a '],
    [{ type: 'number' }, '  ', undefined],
    [{ type: 'number' }, ' -2.5 ', -2.5],
    [{ type: 'integer' }, 'many', Number.NaN],
  ])('of a value that was typed: %j, %j', (definition, typed, value) => {
    const field = fieldOf(definition)
    expect('parse' in field && field.parse(typed)).toEqual(value)
  })
})

describe('The check of a form', () => {
  const schema: RequestedSchema = JSON.parse(`{
    "type": "object",
    "properties": { "__proto__": { "type": "string" }, "size": { "type": "integer", "default": 3 } },
    "required": ["__proto__"]
  }`)
  const form = readForm(schema)

  test('returns the whole content: a default for an absent field, and undefined for an empty one', () => {
    expect(form.check(JSON.parse('{"__proto__": "x"}'))).toEqual({ content: JSON.parse('{"__proto__":"x","size":3}') })
    const values = Object.fromEntries([['__proto__', 'x'] as const, ['size', undefined] as const])
    const checked = form.check(values)
    expect('content' in checked && Object.entries(checked.content)).toEqual([
      ['__proto__', 'x'],
      ['size', undefined],
    ])
  })

  test('names every field that is wrong', () => {
    const checked = form.check({ size: 1.5, other: 1 })
    expect('issues' in checked && [...checked.issues]).toEqual([
      ['__proto__', 'This is required'],
      ['size', 'Write a whole number'],
      ['other', 'The form has no such field'],
    ])
  })
})

const word = fc.constantFrom('', 'a', 'b', 'ab', '2026-07-28', '2026-02-30', 'a@b.c', 'https://a.b/', '😀')
const bound = fc.option(fc.integer({ min: -2, max: 3 }), { nil: undefined })
const size = fc.option(fc.nat(3), { nil: undefined })
const options = fc.uniqueArray(word, { maxLength: 4 })
const titledOptions = options.map((values) => values.map((value) => ({ const: value, title: `<${value}>` })))
const optional = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined })
const texts = { type: fc.constant('string' as const), title: optional(word), default: optional(word) }
const lists = { type: fc.constant('array' as const), minItems: size, maxItems: size, default: optional(fc.array(word)) }
const definition = fc.oneof<fc.Arbitrary<PrimitiveSchemaDefinition>[]>(
  fc.record({ ...texts, format: fc.constantFrom('date', 'date-time', 'email', 'uri', undefined) }),
  fc.record({ ...texts, minLength: size, maxLength: size }),
  fc.record({ ...texts, enum: options, enumNames: optional(fc.array(word)) }),
  fc.record({ ...texts, oneOf: titledOptions }),
  fc.record({
    type: fc.constantFrom('number' as const, 'integer' as const),
    minimum: bound,
    maximum: bound,
    default: optional(fc.oneof(fc.integer({ min: -3, max: 4 }), fc.constant(0.5))),
  }),
  fc.record({ type: fc.constant('boolean' as const), default: optional(fc.boolean()) }),
  fc.record({ ...lists, items: options.map((values) => ({ type: 'string' as const, enum: values })) }),
  fc.record({ ...lists, items: titledOptions.map((anyOf) => ({ anyOf })) }),
)
const requestedSchema = fc
  .dictionary(fc.string({ maxLength: 6 }), fc.tuple(definition, fc.boolean()), { maxKeys: 5 })
  .map((entries): RequestedSchema => {
    const fields = Object.entries(entries)
    return {
      type: 'object',
      properties: Object.fromEntries(fields.map(([name, [one]]) => [name, one])),
      required: fields.flatMap(([name, [, isRequired]]) => (isRequired ? [name] : [])),
    }
  })

describe('For every requested schema', () => {
  test('each default passes the check of its field, and only a required field without one keeps a form from acceptance', () => {
    fc.assert(
      fc.property(requestedSchema, (schema) => {
        const form = readForm(schema)
        expect(form.fields.map(({ name }) => name)).toEqual(Object.keys(schema.properties))
        for (const field of form.fields)
          if (field.default !== undefined) expect(field.check(field.default)).toBeUndefined()
        const missing = form.fields.filter((field) => field.required && field.default === undefined)
        const checked = form.check({})
        const wrong = 'issues' in checked ? [...checked.issues.keys()] : []
        expect(wrong).toEqual(missing.map(({ name }) => name))
      }),
    )
  })

  test('content that a form accepts is content that the client sends', () => {
    let accepted = 0
    const value = fc.oneof(word, fc.integer({ min: -3, max: 4 }), fc.boolean(), fc.array(word, { maxLength: 3 }))
    fc.assert(
      fc.property(requestedSchema, fc.infiniteStream(optional(value)), (schema, values) => {
        const form = readForm(schema)
        const given = Object.fromEntries(
          form.fields.map(({ name, default: initial }) => [name, initial ?? values.next().value]),
        )
        const checked = form.check(given)
        if ('issues' in checked) return
        accepted += 1
        expect(checkForm(schema, checked.content)).toHaveProperty('content')
      }),
    )
    expect(accepted).toBeGreaterThan(10)
  })
})
