import { expect, test, vi } from 'vitest'
import { extendCall, extensionView } from './call-extensions.ts'
import type { Call } from './exchange.ts'

const call: Call = { signal: new AbortController().signal, principal: { subject: 'ada' }, notify: () => {} }

test('what an exchange adds to a call is found under its identifier, beside what was there, and the call stays as it was', () => {
  const one = extendCall(call, 'com.example/one', () => 1)
  const both = extendCall(one, 'com.example/two', () => 2)
  const view = extensionView(both)
  expect(['one', 'two', 'three'].map((name) => view.extension(`com.example/${name}`))).toEqual([1, 2, undefined])
  expect([both.principal, both.signal, call.extensions]).toEqual([call.principal, call.signal, undefined])
  expect(extensionView(one).extension('com.example/two')).toBeUndefined()
})

test('each view opens an extension once, when it is first asked for', () => {
  const open = vi.fn(() => ({}))
  const extended = extendCall(call, 'com.example/one', open)
  const [first, second] = [extensionView(extended), extensionView(extended)]
  expect(open).not.toHaveBeenCalled()
  expect(first.extension('com.example/one')).toBe(first.extension('com.example/one'))
  expect(second.extension('com.example/one')).not.toBe(first.extension('com.example/one'))
  expect(open).toHaveBeenCalledTimes(2)
})

test.each(['constructor', '__proto__', 'toString'])('a call without extensions has none called %s', (name) => {
  expect(extensionView(call).extension(name)).toBeUndefined()
})
