import type { InputContext } from '@x/client'
import { expect, test } from 'vitest'
import { EventLog } from '../event-log.ts'
import type { QuestionView } from '../events.ts'
import { Questions } from './questions.ts'

const form = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } } }) as const

test.each([
  ['is asked for the first time', 'team', { message: 'Team at 12:01?' }, undefined],
  ['has another message', 'team~2', { message: 'Team at 12:01?' }, /^its message changed .* It was "Team at 12:00\?"$/],
  ['has another schema', 'team~2', { requestedSchema: form('b') }, /^its schema changed/],
  ['had an answer that did not fit', 'team~2', { message: 'Team at 12:00? (a: too short)' }, /did not fit its schema/],
])('a question that %s says why', async (_, key, changes, reason) => {
  const log = new EventLog()
  const asked: QuestionView[] = []
  log.subscribe((event) => void (event.type === 'question' && event.isOpen && asked.push(event.question)))
  const questions = new Questions(log, () => (key === 'team' ? asked.length : 1))
  const context: InputContext = {
    key: 'team',
    target: 'bank__buy',
    signal: new AbortController().signal,
  } as InputContext
  const first = { message: 'Team at 12:00?', requestedSchema: form('a') }
  void questions.handlers.elicit?.(first, context)
  void questions.handlers.elicit?.({ ...first, ...changes }, { ...context, key })
  const [, again] = asked
  expect(again?.target).toBe('bank__buy')
  if (reason === undefined) expect(again?.again).toBeUndefined()
  else expect(again?.again).toMatch(reason)
})
