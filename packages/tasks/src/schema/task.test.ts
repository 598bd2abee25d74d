import type { Check } from '@x/schema'
import { checkOf } from '@x/schema/shapes'
import { issueOf, type Validator } from '@x/schema/zod'
import * as validators from '@x/tasks/zod'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as shapes from './task.ts'

const members = {
  taskId: fc.oneof(fc.string(), fc.integer()),
  status: fc.constantFrom('working', 'input_required', 'completed', 'failed', 'cancelled', 'other', 1),
  statusMessage: fc.oneof(fc.string(), fc.constant(null)),
  createdAt: fc.string(),
  lastUpdatedAt: fc.oneof({ weight: 9, arbitrary: fc.string() }, fc.boolean()),
  ttlMs: fc.oneof(fc.integer(), fc.constant(null), fc.constant(0.5), fc.string()),
  pollIntervalMs: fc.oneof(fc.integer(), fc.constant(null)),
  resultType: fc.constantFrom('complete', 'task', 'other'),
  result: fc.oneof(fc.constant({ content: [] }), fc.constant([]), fc.constant({ a: Number.NaN })),
  error: fc.record({ code: fc.oneof(fc.integer(), fc.constant(0.5)), message: fc.string() }),
  inputRequests: fc.constantFrom({}, { a: { method: 'roots/list' } }, { a: { method: 'other' } }, []),
}
const required = [
  'taskId',
  'status',
  'createdAt',
  'lastUpdatedAt',
  'ttlMs',
  'result',
  'error',
  'inputRequests',
] as const
const someTask = fc.oneof(
  fc.record(members, { requiredKeys: [...required] }),
  fc.record(
    { ...members, ttlMs: fc.constant(null), taskId: fc.string() },
    { requiredKeys: [...required, 'resultType'] },
  ),
)

test.each<[string, Check, Validator]>([
  ['detailedTask', checkOf(shapes.detailedTask), validators.detailedTask],
  ['getTaskResult', checkOf(shapes.getTaskResult), validators.getTaskResult],
  ['createTaskResult', checkOf(shapes.createTaskResult), validators.createTaskResult],
  ['taskAcknowledgement', checkOf(shapes.taskAcknowledgement), validators.taskAcknowledgement],
])('the check and the validator of %s agree', (_, check, validator) => {
  let accepted = 0
  fc.assert(
    fc.property(someTask, (value) => {
      const isValid = check(value) === undefined
      if (isValid) accepted += 1
      expect(issueOf(validator, value) === undefined).toBe(isValid)
    }),
    { numRuns: 500 },
  )
  expect(accepted).toBeGreaterThan(0)
})

test('a failure has the path of the member that its status requires', () => {
  const failed = { taskId: 'a', status: 'failed', createdAt: '', lastUpdatedAt: '', ttlMs: '1', error: {} }
  const check = checkOf(shapes.detailedTask)
  expect(check(failed)).toEqual({ path: '.ttlMs', expected: 'an integer or null', got: 'a string' })
  expect(check({ ...failed, ttlMs: null })).toEqual({ path: '.error.code', expected: 'an integer', got: 'nothing' })
})
