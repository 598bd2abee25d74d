import { afterEach, expect, test, vi } from 'vitest'

const descriptor = Object.getOwnPropertyDescriptor(process.stdin, 'isTTY')
afterEach(() => {
  if (descriptor === undefined) Reflect.deleteProperty(process.stdin, 'isTTY')
  else Object.defineProperty(process.stdin, 'isTTY', descriptor)
})

test('the program of the README asks for a terminal when it has none', async () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  Object.defineProperty(process.stdin, 'isTTY', { value: false, configurable: true })
  await import('../examples/quick-start.ts')
  expect(printed.mock.calls).toEqual([['Start this program in a terminal.']])
})
