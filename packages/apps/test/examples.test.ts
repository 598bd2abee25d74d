import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { expect, test, vi } from 'vitest'

test('the program of the README serves a tool with its page', async () => {
  process.env['PORT'] = '0'
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  await using http = (await import('../examples/quick-start.ts')).http
  expect(printed).toHaveBeenCalledWith(`Listening at ${http.url}`)
  await using client = createClient(connectHttp(http.url), { name: 'host', version: '1.0.0' })
  expect(await client.callTool('weather', { city: 'Oslo' })).toMatchObject({ structuredContent: { celsius: 21 } })
  const { contents } = await client.readResource('ui://weather/page.html')
  expect(contents).toMatchObject([{ text: expect.stringContaining('<title>Weather</title>') }])
})
