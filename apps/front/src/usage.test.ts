import { expect, test } from 'vitest'
import { portRefusal, UsageError, wholeNumber } from './usage.ts'

test.each([
  ['0', 0],
  ['16', 16],
  ['007', 7],
])('%s is a whole number within its bounds', (text, value) => {
  expect(wholeNumber('--count', text, [0, 16])).toBe(value)
})

test.each(['', '17', '-1', '1.5', '1e1', '0x1', ' 1', 'three', '000001'])('"%s" is rejected', (text) => {
  const read = () => wholeNumber('--count', text, [0, 16])
  expect(read).toThrow(UsageError)
  expect(read).toThrow(`--count is "${text}"; it should be a whole number from 0 to 16`)
})

test.each([
  ['EADDRINUSE', 'port 80 is taken by another program: stop that, or give another one with --port'],
  ['EACCES', 'port 80 needs rights that this user lacks: give one from 1024 up with --port'],
  ['EADDRNOTAVAIL', 'port 80 cannot be used (EADDRNOTAVAIL): give another one with --port'],
])('a port that cannot be listened on for %s is rejected with what to do', (code, message) => {
  const refusal = portRefusal(Object.assign(new Error('no'), { code }), 80)
  expect(refusal).toBeInstanceOf(UsageError)
  expect(refusal.message).toContain(message)
})
