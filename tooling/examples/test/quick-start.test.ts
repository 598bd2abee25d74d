import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { expect, test, vi } from 'vitest'

test('the first program of the README of @x/server serves both tools', async () => {
  vi.stubEnv('PORT', '0')
  const started = await import('../src/quick-start.ts')
  await using http = started.http
  await using connection = connectHttp(http.url)
  const client = createClient(connection, { name: 'test', version: '1.0.0' })
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['greet', 'now'])
  expect((await client.callTool('greet', { name: 'Ada' })).content).toEqual([{ type: 'text', text: 'Hello, Ada!' }])
  vi.unstubAllEnvs()
})
