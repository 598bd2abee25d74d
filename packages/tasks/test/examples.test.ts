import { expect, test, vi } from 'vitest'

test('the program of the README runs', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('../examples/quick-start.ts')
  expect(log.mock.calls).toEqual([
    ['publishing home'],
    ['publishing about'],
    ['publishing contact'],
    [[{ type: 'text', text: 'Published 3 pages.' }]],
  ])
  log.mockRestore()
})
