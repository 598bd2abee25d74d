import type { ElicitRequestFormParams } from '@x/schema'
import { expect, test } from 'vitest'
import { UsageError } from '@apps/front/usage'
import { readAnswers, writtenAnswers } from './written-answers.ts'

const question: ElicitRequestFormParams = {
  message: 'Which one?',
  requestedSchema: { type: 'object', properties: { id: { type: 'integer' }, why: { type: 'string' } } },
}

test('each question gets the answer that is written for its key; null declines', async () => {
  const person = writtenAnswers('{"first": {"id": 1}, "second": null, "constructor": {"id": 3}}', 'a.json')
  expect(await person.answer('first', question)).toEqual({ action: 'accept', content: { id: 1 } })
  expect(await person.answer('second', question)).toEqual({ action: 'decline' })
  expect(person.leftOver()).toBe('a.json answers "constructor", which was not asked; asked was "first", "second"')
  expect(await person.answer('constructor', question)).toEqual({ action: 'accept', content: { id: 3 } })
  expect(person.leftOver()).toBeUndefined()
})

test.each([
  ['{"frist": {"id": 1}}', 'first', 'it answers "frist"'],
  ['{}', 'toString', 'it answers nothing'],
])('with %s, the question "%s" has no answer, and the message names the keys', async (text, key, keys) => {
  const message = `a.json has no answer to "${key}" (Which one?), a form with "id", "why"; ${keys}`
  await expect(writtenAnswers(text, 'a.json').answer(key, question)).rejects.toThrow(message)
})

test.each([
  ['{', 'a.json is not JSON'],
  ['[]', 'see the whole'],
  ['{"first": "Fixed"}', 'see first'],
  ['{"first": {"id": {"deep": 1}}}', 'see first.id'],
])('the file %s is rejected before anything starts', (text, message) => {
  expect(() => writtenAnswers(text, 'a.json')).toThrow(UsageError)
  expect(() => writtenAnswers(text, 'a.json')).toThrow(message)
})

test('a file that is not there is rejected', () => {
  expect(() => readAnswers('/nowhere/a.json')).toThrow('--answers /nowhere/a.json cannot be read: ENOENT')
})
