import type { Exchange } from '@x/schema'
import { connectHttp } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { serveInstance } from './serve-instance.ts'

const exchange: Exchange = async ({ id, method }) => ({ jsonrpc: '2.0', id, result: { method } })

test('the endpoint, the page and nothing else are served', async () => {
  const instance = await serveInstance(exchange, ({ url }, response) => {
    if (url === '/') response.end('the page')
    return url === '/'
  })
  const base = `http://127.0.0.1:${instance.port}`
  const connection = connectHttp(`${base}/mcp`)
  const call = { signal: new AbortController().signal, notify() {} }
  await expect(
    connection({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }, call),
  ).resolves.toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: { method: 'tools/list' },
  })
  await connection.close()
  expect(await (await fetch(base)).text()).toBe('the page')
  const nothing = await fetch(`${base}/other`)
  expect([nothing.status, await nothing.text()]).toEqual([404, 'There is nothing here: the endpoint is /mcp\n'])
  await instance.close()
  await expect(fetch(base)).rejects.toThrow('fetch failed')
})

test('without a page there is the endpoint alone', async () => {
  const instance = await serveInstance(exchange)
  expect((await fetch(`http://127.0.0.1:${instance.port}/`)).status).toBe(404)
  expect((await fetch(`http://127.0.0.1:${instance.port}/mcp`)).status).toBe(405)
  await instance.close()
})

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
