import { expect, test, vi } from 'vitest'

test('the program of the README answers a client of 2025-11-25', async () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('../examples/quick-start.ts')
  expect(printed.mock.calls).toEqual([['2025-11-25', true]])
})
