import { expect, test, vi } from 'vitest'

test('the program of the README prints the opened value, and hides the reason of the rejection from the client', async () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('../examples/quick-start.ts')
  expect(printed.mock.calls.slice(1)).toEqual([
    [{ resolution: 'Duplicate' }],
    ['to the client: Invalid or expired state; to the log: binding'],
  ])
})
