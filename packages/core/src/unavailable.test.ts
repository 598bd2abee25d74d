import { expect, test } from 'vitest'
import { BusError } from './bus/change-bus.ts'
import { isUnavailable } from './unavailable.ts'

/** An error like those of `@x/auth`, which is not a dependency of this package. */
const tokenError = (code: string): Error => Object.assign(new Error('gone'), { name: 'TokenError', code })

test.each([
  ['an error of a bus that cannot be reached', new BusError('unavailable', 'gone'), true],
  ['an error whose cause is such an error', new Error('failed', { cause: new BusError('unavailable', 'gone') }), true],
  ['an error of an issuer that cannot be reached', tokenError('issuer_unavailable'), true],
  ['another error of an issuer', tokenError('unknown_key'), false],
  ['another error of a bus', new BusError('too_large', 'large'), false],
  ["an author's own error with that code", Object.assign(new Error('gone'), { code: 'unavailable' }), false],
  ['an object that is not an error', { name: 'BusError', code: 'unavailable' }, false],
  ['undefined', undefined, false],
])('%s', (_, error, expected) => {
  expect(isUnavailable(error)).toBe(expected)
})

test('causes that form a cycle end the search', () => {
  const error = new Error('first')
  error.cause = new Error('second', { cause: error })
  expect(isUnavailable(error)).toBe(false)
})
