import { expect, test, vi } from 'vitest'

test('the program of the README says what it needs where there is no terminal', async () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.spyOn(process.stdin, 'isTTY', 'get').mockReturnValue(false)
  await import('../examples/quick-start.ts')
  expect(printed.mock.calls).toEqual([['Start this program in a terminal.']])
})
