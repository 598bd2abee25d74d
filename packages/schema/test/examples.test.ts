import { expect, test, vi } from 'vitest'

test('the program of the README answers its request', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('../examples/quick-start.ts')
  const result = { resultType: 'complete', content: [{ type: 'text', text: 'Hello, Ada!' }] }
  expect(log.mock.calls.map(([text]) => JSON.parse(text))).toEqual([{ jsonrpc: '2.0', id: 1, result }])
  log.mockRestore()
})
