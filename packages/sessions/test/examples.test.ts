import { expect, test, vi } from 'vitest'

test('the program of the README prints what its session has, and nothing of the other', async () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('../examples/quick-start.ts')
  expect(printed.mock.calls).toEqual([[[{ type: 'text', text: 'eggs, bread' }]]])
})
