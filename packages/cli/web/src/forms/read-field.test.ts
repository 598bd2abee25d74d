import { expect, test } from 'vitest'
import type { Draft, FieldKind } from './field.ts'
import { readField } from './read-field.ts'

const options = ['a', 'b', 'c'].map((value) => ({ value, label: value.toUpperCase() }))
const text: FieldKind = { type: 'text', minLength: 2, maxLength: 3 }
const whole: FieldKind = { type: 'number', whole: true, minimum: 1, maximum: 9 }
const any: FieldKind = { type: 'number', whole: false }
const choices: FieldKind = { type: 'choices', options, minItems: 1, maxItems: 2 }

function read(kind: FieldKind, draft: Draft, required = false): ReturnType<typeof readField> {
  return readField({ name: 'one', label: 'One', required, kind, initial: '' }, draft)
}

test.each<[string, FieldKind, Draft, unknown]>([
  ['a text', text, 'abc', 'abc'],
  ['characters that are two units each', text, '🙂🙂🙂', '🙂🙂🙂'],
  ['a date', { type: 'text', format: 'date' }, '2026-02-28', '2026-02-28'],
  ['an e-mail address', { type: 'text', format: 'email' }, 'ada@example.com', 'ada@example.com'],
  ['an address', { type: 'text', format: 'uri' }, 'https://example.com/', 'https://example.com/'],
  ['a whole number with room around it', whole, ' 9 ', 9],
  ['a negative number', any, '-1.5', -1.5],
  ['ticked', { type: 'flag' }, true, true],
  ['not ticked', { type: 'flag' }, false, false],
  ['a choice', { type: 'choice', options }, 'b', 'b'],
  ['choices, in the order of the options', choices, ['c', 'a'], ['a', 'c']],
  ['JSON', { type: 'json' }, ' [1, {"a": null}] ', [1, { a: null }]],
  [
    'rows, of which empty ones do not count',
    { type: 'entries' },
    [
      { name: ' System.State ', value: 'Resolved' },
      { name: '', value: '' },
      { name: 'Custom.DuplicateOf', value: '4301' },
      { name: 'System.Title', value: '007' },
      { name: 'System.Tags', value: '""' },
    ],
    { 'System.State': 'Resolved', 'Custom.DuplicateOf': 4301, 'System.Title': '007', 'System.Tags': '' },
  ],
])('%s is read', (_, kind, draft, value) => {
  expect(read(kind, draft, true)).toEqual({ value })
})

test.each<[string, FieldKind, Draft, string]>([
  ['a text that is too short', text, 'a', 'Write at least 2 characters.'],
  ['a text that is too long', text, 'abcd', 'Write at most 3 characters.'],
  ['30 February', { type: 'text', format: 'date' }, '2026-02-30', 'Write a date such as 2026-07-28.'],
  ['no time', { type: 'text', format: 'date-time' }, 'noon', 'Write a time such as 2026-07-28T12:00:00Z.'],
  ['no e-mail address', { type: 'text', format: 'email' }, 'ada', 'Write an e-mail address.'],
  ['half an address', { type: 'text', format: 'uri' }, '/page', 'Write an absolute URI.'],
  ['no number', any, 'many', 'Write a number.'],
  ['a number without end', any, '1e999', 'Write a number.'],
  ['half a number', whole, '1.5', 'Write a whole number.'],
  ['a number below the least', whole, '0', 'Write at least 1.'],
  ['a number above the most', whole, '10', 'Write at most 9.'],
  ['a choice that is none', { type: 'choice', options }, 'z', 'Choose one of the options of the form.'],
  ['no choices', choices, [], 'Choose at least 1 of the options.'],
  ['too many choices', choices, ['a', 'b', 'c'], 'Choose at most 2 of the options.'],
  ['no JSON', { type: 'json' }, '{a}', 'Write this as JSON, such as ["a", 1] or {"name": "value"}.'],
  ['a value without a name', { type: 'entries' }, [{ name: '', value: 'x' }], 'Name the field that is to be "x".'],
  [
    'a name without a value',
    { type: 'entries' },
    [{ name: 'System.State', value: '' }],
    'Give "System.State" a value, or remove it. To clear the field, write "".',
  ],
  [
    'a name that is there twice',
    { type: 'entries' },
    [
      { name: 'a.b', value: '1' },
      { name: 'a.b ', value: '2' },
    ],
    '"a.b" is there twice: remove one of them.',
  ],
])('%s is rejected in words', (_, kind, draft, issue) => {
  expect(read(kind, draft)).toEqual({ issue })
})

test.each<[FieldKind, Draft, string]>([
  [text, '', 'Fill this in.'],
  [any, '  ', 'Fill this in.'],
  [{ type: 'json' }, '', 'Fill this in.'],
  [{ type: 'choice', options }, '', 'Choose one of the options.'],
  [{ type: 'choices', options }, [], 'Choose at least one of the options.'],
  [{ type: 'entries' }, [], 'Give at least one field and its value.'],
])('an empty %o is empty, or rejected when it is required', (kind, draft, issue) => {
  expect(read(kind, draft)).toBe('empty')
  expect(read(kind, draft, true)).toEqual({ issue })
})

test('a local time is read as the moment that it means', () => {
  const reading = read({ type: 'text', format: 'date-time' }, '2026-07-28T14:30')
  expect(reading).toEqual({ value: new Date(2026, 6, 28, 14, 30).toISOString() })
})
