import type { ElicitRequestFormParams, PrimitiveSchemaDefinition } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { fakeTerminal, keys, type Move } from '@tooling/vitest/fake-terminal'
import { askInTerminal } from './ask-in-terminal.ts'

const { enter, down, space, erase, leave } = keys
const colours = ['red', 'green', 'blue']
const titled = [
  { const: 'r', title: 'Red' },
  { const: 'g', title: 'Green' },
]

function formWith(field: PrimitiveSchemaDefinition, required = true): ElicitRequestFormParams {
  return {
    message: 'Fill this in.',
    requestedSchema: { type: 'object', properties: { it: field }, ...(required ? { required: ['it'] } : {}) },
  }
}

type Row = readonly [what: string, field: PrimitiveSchemaDefinition, typed: string, value: unknown]

describe('a field of a form is a prompt', () => {
  test.each<Row>([
    ['a text', { type: 'string', title: 'It' }, `Ada${enter}`, 'Ada'],
    ['a text with a default', { type: 'string', title: 'It', default: 'Bob' }, enter, 'Bob'],
    ['a default that is changed', { type: 'string', title: 'It', default: 'Bob' }, `${erase}y${enter}`, 'Boy'],
    ['an integer', { type: 'integer', title: 'It' }, `4301${enter}`, 4301],
    ['a number', { type: 'number', title: 'It' }, `-2.5${enter}`, -2.5],
    ['a number with a default', { type: 'number', title: 'It', default: 7 }, enter, 7],
    ['a yes', { type: 'boolean', title: 'It' }, `y`, true],
    ['a no that is the default', { type: 'boolean', title: 'It', default: false }, enter, false],
    ['a choice', { type: 'string', title: 'It', enum: colours }, `${down}${enter}`, 'green'],
    ['a choice with a default', { type: 'string', title: 'It', enum: colours, default: 'blue' }, enter, 'blue'],
    ['a choice with titles', { type: 'string', title: 'It', oneOf: titled }, `${down}${enter}`, 'g'],
    ['a choice with names', { type: 'string', title: 'It', enum: ['r'], enumNames: ['Red'] }, enter, 'r'],
    [
      'several choices',
      { type: 'array', title: 'It', items: { type: 'string', enum: colours } },
      `${space}${down}${down}${space}${enter}`,
      ['red', 'blue'],
    ],
    [
      'several choices with titles and a default',
      { type: 'array', title: 'It', items: { anyOf: titled }, default: ['g'] },
      `${space}${enter}`,
      ['g', 'r'],
    ],
  ])('%s', async (_, field, typed, value) => {
    const terminal = fakeTerminal(['It', typed])
    const answer = await askInTerminal(formWith(field), terminal)
    expect(answer.action).toBe('accept')
    expect(sorted(answer.content?.['it'])).toEqual(sorted(value))
    expect(terminal.shown()).toContain('Fill this in.')
  })

  test.each<Row>([
    ['a text', { type: 'string', title: 'It' }, enter, undefined],
    ['a number', { type: 'number', title: 'It' }, enter, undefined],
    ['a text whose default is erased', { type: 'string', title: 'It', default: 'B' }, `${erase}${enter}`, undefined],
    ['a yes or no', { type: 'boolean', title: 'It' }, `${down}${down}${enter}`, undefined],
    ['a choice', { type: 'string', title: 'It', enum: ['red'] }, `${down}${enter}`, undefined],
    ['several choices', { type: 'array', title: 'It', items: { type: 'string', enum: colours } }, enter, undefined],
  ])('that may be empty when it is optional: %s', async (_, field, typed, value) => {
    const terminal = fakeTerminal(['It (optional)', typed])
    expect(await askInTerminal(formWith(field, false), terminal)).toEqual({ action: 'accept', content: { it: value } })
  })
})

describe('what does not fit is not taken', () => {
  test.each([
    ['nothing', { type: 'string' }, '', 'This is required', 'x', 'x'],
    ['no number', { type: 'number' }, 'many', 'Write a number', '', undefined],
    ['half a number', { type: 'integer' }, '1.5', 'Write a whole number', `${erase}${erase}`, 1],
    ['too little', { type: 'integer', minimum: 10 }, '1', 'Write at least 10', '2', 12],
    ['too much', { type: 'integer', maximum: 10 }, '11', 'Write at most 10', erase, 1],
    ['too few characters', { type: 'string', minLength: 2 }, '🙂', 'Write at least 2 characters', '🙂', '🙂🙂'],
    ['too many characters', { type: 'string', maxLength: 1 }, 'ab', 'Write at most 1 character', erase, 'a'],
    ['no date', { type: 'string', format: 'date' }, '2026-07-2', 'Write a date', '8', '2026-07-28'],
    [
      'no time',
      { type: 'string', format: 'date-time' },
      '2026-07-28T12:00:00',
      'Write a time',
      'Z',
      '2026-07-28T12:00:00Z',
    ],
    ['no address', { type: 'string', format: 'email' }, 'ada', 'Write an e-mail', '@example.com', 'ada@example.com'],
    ['no URL', { type: 'string', format: 'uri' }, 'x', 'Write an absolute URI', ':y', 'x:y'],
  ] satisfies [string, PrimitiveSchemaDefinition, string, string, string, unknown][])(
    '%s',
    async (_, field, wrong, problem, more, value) => {
      const moves: Move[] = [['It', `${wrong}${enter}`]]
      // What cannot be mended by typing on is left.
      if (value === undefined) moves.push([problem, leave], ['Leave this question?', leave])
      else moves.push([problem, `${more}${enter}`])
      const terminal = fakeTerminal(...moves)
      const { content } = await askInTerminal(formWith(field), terminal)
      expect(terminal.left()).toEqual([])
      expect(content?.['it']).toEqual(value)
    },
  )

  test.each([
    [{ minItems: 2 }, 'Choose at least 2 of the options'],
    [{ minItems: 2, maxItems: 2 }, 'Choose at least 2 of the options'],
    [{ minItems: 2, maxItems: 3 }, 'Choose at least 2 of the options'],
  ])('a number of choices outside %j', async (bounds, problem) => {
    const field = { type: 'array', title: 'It', items: { type: 'string', enum: colours }, ...bounds } as const
    const terminal = fakeTerminal(['It', `${space}${enter}`], [problem, ''], ['It', `${down}${space}${enter}`])
    expect(await askInTerminal(formWith(field), terminal)).toEqual({
      action: 'accept',
      content: { it: ['red', 'green'] },
    })
  })
})

describe('a question can be left', () => {
  const question = formWith({ type: 'string', title: 'It' })

  test.each([
    ['declined', `${down}${enter}`, 'decline'],
    ['cancelled', `${down}${down}${enter}`, 'cancel'],
    ['left a second time', leave, 'cancel'],
  ])('by being %s', async (_, pressed, action) => {
    const terminal = fakeTerminal(['It', leave], ['Leave this question?', pressed])
    expect(await askInTerminal(question, terminal)).toEqual({ action })
  })

  test('and taken up again', async () => {
    const terminal = fakeTerminal(['It', leave], ['Leave this question?', enter], ['It', `Ada${enter}`])
    expect(await askInTerminal(question, terminal)).toEqual({ action: 'accept', content: { it: 'Ada' } })
  })

  test('when the call no longer waits for the answer', async () => {
    const terminal = fakeTerminal()
    const answer = askInTerminal(question, terminal)
    terminal.stop.abort(new Error('the call is over'))
    await expect(answer).rejects.toThrow('the call is over')
    await expect(askInTerminal(question, terminal)).rejects.toThrow('the call is over')
  })
})

test('several fields are asked one after the other, with any names', async () => {
  const properties: Record<string, PrimitiveSchemaDefinition> = JSON.parse(
    '{"__proto__": {"type": "string", "description": "First"}, "second": {"type": "integer", "title": "Second", "description": "a number"}}',
  )
  const terminal = fakeTerminal(['Proto: First (optional)', `a${enter}`], ['Second: a number', `2${enter}`])
  const { content } = await askInTerminal(
    { message: 'Both, please.', requestedSchema: { type: 'object', properties, required: ['second'] } },
    terminal,
  )
  expect(Object.entries(content ?? {})).toEqual([
    ['__proto__', 'a'],
    ['second', 2],
  ])
})

test('the text of a server cannot control the terminal', async () => {
  const terminal = fakeTerminal(['name', `x${enter}`])
  await askInTerminal(
    {
      message: 'Safe?\u001B]0;evil\u0007\u202Egnp.exe',
      requestedSchema: { type: 'object', properties: { it: { type: 'string', title: 'Your\u009B31m name' } } },
    },
    terminal,
  )
  for (const harmful of ['\u001B]', '\u0007', '\u202E', '\u009B']) expect(terminal.raw()).not.toContain(harmful)
})

function sorted(value: unknown): unknown {
  return Array.isArray(value) ? value.toSorted() : value
}
