import { createCall, type Exchange, serverOf } from '@x/schema'
import { connectHttp } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { serveInstance } from './serve-instance.ts'

const exchange: Exchange = async ({ id, method }) => ({ jsonrpc: '2.0', id, result: { method } })
const server = serverOf(exchange, { info: { name: 'test', version: '1.0.0' }, localOnly: undefined })

test('the endpoint, the page and nothing else are served', async () => {
  const instance = await serveInstance(server, ({ url }, response) => {
    if (url === '/') response.end('the page')
    return url === '/'
  })
  const base = `http://127.0.0.1:${instance.port}`
  const connection = connectHttp(`${base}/mcp`)
  await expect(
    connection.exchange({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }, createCall()),
  ).resolves.toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: { method: 'tools/list' },
  })
  await connection.close()
  expect(await (await fetch(base)).text()).toBe('the page')
  const nothing = await fetch(`${base}/other`)
  expect(nothing.status).toBe(404)
  expect(await nothing.text()).toContain('There is nothing here: the endpoint is /mcp')
  await instance.close()
  await expect(fetch(base)).rejects.toThrow('fetch failed')
})

test('without a page there is the endpoint alone', async () => {
  const instance = await serveInstance(server)
  expect((await fetch(`http://127.0.0.1:${instance.port}/`)).status).toBe(404)
  expect((await fetch(`http://127.0.0.1:${instance.port}/mcp`)).status).toBe(405)
  await instance.close()
})

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
