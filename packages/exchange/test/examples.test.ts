import { expect, test, vi } from 'vitest'

test('the program of the README prints the response and the time of the call', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('../examples/quick-start.ts')
  expect(log.mock.calls).toMatchObject([
    [expect.stringMatching(/^tools\/call took \d+ ms$/)],
    [{ result: { content: [{ text: 'Hello!' }] } }],
  ])
})
