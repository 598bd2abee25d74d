import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { connectStdio } from '@x/transport-stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keys, textOf } from './asking.ts'
import { serveOurs } from './examined-servers.ts'
import { buildMcpx, type Mcpx } from './mcpx.ts'
import { ordersDocument, startOrdersApi } from './orders-api.ts'
import { everything as everythingProgram } from './older-server-peers.ts'

let mcpx: Mcpx
beforeAll(async () => {
  mcpx = await buildMcpx()
})
afterAll(() => mcpx?.[Symbol.asyncDispose]())

// The doctor runs against server-everything over HTTP.
test('server-everything over stdio is listed and called, and its error has the exit code 5', async () => {
  const target = `"${process.execPath}" "${everythingProgram}"`
  const listed = await mcpx.run('list', target)
  expect(listed).toMatchObject({ code: 0, json: { prompts: expect.any(Array), resources: expect.any(Array) } })
  expect(JSON.stringify(listed.json)).toContain('"name":"echo"')
  const called = await mcpx.run('call', target, 'echo', '--args', '{"message":"hello"}')
  expect([called.code, JSON.stringify(called.json)]).toEqual([0, expect.stringContaining('hello')])
  const failed = await mcpx.run('call', target, 'echo', '--args', '{"message":7}')
  expect([failed.code, failed.json]).toMatchObject([5, { isError: true }])
})

test('mcpx openapi --serve calls an API over stdio, asks before a delete, and ends with the host', async () => {
  await using api = await startOrdersApi()
  const args = [mcpx.path, 'openapi', ordersDocument, '--serve', '--url', `${api.url}/v2`]
  const connection = connectStdio({ command: process.execPath, args })
  const asked: string[] = []
  const client = createClient(connection, {
    name: 'host',
    version: '1.0.0',
    elicit: ({ message }) => ({ action: 'accept', content: { confirm: asked.push(message) > 0 } }),
  })
  expect(textOf(await client.callTool('getOrder', { id: 7 }))).toBe('{"id":"7","dish":"ramen"}')
  await client.callTool('deleteOrder', { id: 7 })
  expect([asked, api.requests]).toEqual([
    ['Delete an order\nDELETE /orders/7'],
    ['GET /v2/orders/7', 'DELETE /v2/orders/7'],
  ])
  await connection.close()
})

describe('mcpx bridge', () => {
  const host = { name: 'host', version: '1.0.0' }

  test('gives a host over stdio the tools of a URL, and ends with the host', async () => {
    await using http = await serveOurs(keys.first)
    const connection = connectStdio({ command: process.execPath, args: [mcpx.path, 'bridge', http.url] })
    const tools = await createClient(connection, host).listTools()
    expect(tools.map(({ name }) => name)).toEqual(['resolve'])
    await connection.close()
  })

  test('gives hosts over HTTP the tools of a command, and ends with SIGTERM', async () => {
    const target = `"${process.execPath}" "${everythingProgram}"`
    const args = [mcpx.path, 'bridge', target, '--port', '0']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    const [url] = await once(createInterface({ input: child.stdout }), 'line')
    {
      await using connection = connectHttp(String(url))
      const client = createClient(connection, host)
      expect(textOf(await client.callTool('echo', { message: 'over the bridge' }))).toContain('over the bridge')
    }
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    await expect(fetch(String(url))).rejects.toThrow('fetch failed')
  })
})
