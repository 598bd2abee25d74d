import { StateError } from '@x/state-codec'
import { expect, test, vi } from 'vitest'
import { logError } from './log-error.ts'

test.each([
  ['an error', new Error('bad \u001b[2J\nwork-items: forged')],
  ['the cause of an error', new Error('failed', { cause: new Error('\u001b[31m\nforged') })],
])("a peer's text in %s begins no line and steers no terminal", (_, error) => {
  const written = vi.spyOn(console, 'error').mockImplementation(() => {})
  logError('tools/call', error)
  const [[line]] = written.mock.calls as [[string]]
  written.mockRestore()
  expect(line).toMatch(/^tools\/call: /)
  expect(line).not.toMatch(/[\p{C}]/u)
  expect(line).toContain('forged')
})

test('of a rejected state only the reason is written', () => {
  const written = vi.spyOn(console, 'error').mockImplementation(() => {})
  logError('tools/call', new StateError('expired', 'the token has expired'))
  const [[line]] = written.mock.calls as [[string]]
  written.mockRestore()
  expect(line).toBe('tools/call: the token has expired')
})
