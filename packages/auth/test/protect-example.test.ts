import { expect, test, vi } from 'vitest'

test('the program of the README is refused with a challenge', async () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('../examples/protect.ts')
  const metadata = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp'
  expect(printed.mock.calls).toEqual([[401, `Bearer scope="items:read", resource_metadata="${metadata}"`]])
})
