import { createServer, tool } from '@x/server'
import { testClient, testRuntime } from '@x/testing'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { quota, quotaOfServer, timing } from '../src/extensions.ts'

const hello = tool('hello', { description: 'Greets', run: () => 'Hello' })
const definition = { name: 'guide', version: '1.0.0', tools: [hello], state: false } as const

test('a quota rejects further calls of one subject until the next hour', async () => {
  const runtime = testRuntime({ now: 0 })
  const server = createServer({
    ...definition,
    extensions: [quota({ callsPerHour: 2 })],
    runtime,
  })
  const clientOf = (subject: string) => testClient(server, { principal: { subject }, extensions: [quotaOfServer()] })
  const [ada, eve] = [clientOf('ada'), clientOf('eve')]
  for (let calls = 0; calls < 2; calls++) await ada.callTool('hello')
  await expect(ada.callTool('hello')).rejects.toThrow('quota')
  await expect(eve.callTool('hello')).resolves.toMatchObject({ content: [{ text: 'Hello' }] })
  expect([await ada.quota.left(), await eve.quota.left(), server.quota.left('eve')]).toEqual([0, 1, 1])
  await runtime.advance(3_600_000)
  expect(await ada.quota.left()).toBe(2)
  expect((await ada.discover()).capabilities.extensions).toEqual({ 'com.example/quota': { callsPerHour: 2 } })
})

test('a server with an extension that requires the caller is not served to other machines without auth', async () => {
  const server = createServer({ ...definition, extensions: [quota({ callsPerHour: 2 })] })
  await expect(serveHttp(server, { host: '0.0.0.0', allowedHosts: ['mcp.example.com'] })).rejects.toThrow('give auth')
})

test('a middleware runs for every request, including one that fails', async () => {
  const seen: string[] = []
  const server = createServer({ ...definition, use: [timing((method) => void seen.push(method))] })
  const client = testClient(server)
  await client.callTool('hello')
  await expect(client.callTool('unknown')).rejects.toThrow('Unknown tool')
  expect(seen).toEqual(['tools/call', 'tools/call'])
})
