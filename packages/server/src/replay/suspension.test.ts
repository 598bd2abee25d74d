import { afterEach, expect, test } from 'vitest'
import { isSuspension, suspensionFor } from './suspension.ts'

const { stackTraceLimit } = Error
afterEach(() => {
  Error.stackTraceLimit = stackTraceLimit
})

test('a suspension takes no stack, and leaves those of other errors as they are', () => {
  Error.stackTraceLimit = 3
  const suspension = suspensionFor(['colour'])
  expect(suspension.stack).toBe('Suspension: The call waits for "colour"; let this error pass')
  expect(new Error('other').stack?.split('\n')).toHaveLength(4)
})

test.each([
  ['itself', suspensionFor([]), true],
  ['as the cause of another error', new Error('failed', { cause: suspensionFor(['a']) }), true],
  ['in another error', new Error('failed'), false],
  ['in no error', 'Suspension', false],
])('a suspension is found %s', (_title, error, found) => {
  expect(isSuspension(error)).toBe(found)
})
