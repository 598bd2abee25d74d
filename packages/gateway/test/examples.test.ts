import { expect, test, vi } from 'vitest'

test('the program of the README accepts calls, and opens no connection before the first call', async () => {
  vi.stubEnv('PORT', '0')
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('../examples/quick-start.ts')
  expect(printed.mock.calls).toEqual([[expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)]])
})
