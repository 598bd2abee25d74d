import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { printingFetch, readEvents } from '../wire.mjs'

const ping = tool('ping', { description: 'Answers', run: () => 'pong' })
const server = createServer({ name: 'demo', version: '1.0.0', tools: [ping] })
const http = await serveHttp(server, { port: 0 })
const connection = connectHttp(http.url, { fetch: printingFetch })
const client = createClient(connection, { name: 'host', version: '1.0.0' })

console.log('# A client requests the capabilities of the server')
await client.discover()

console.log('# Each request is independent')
await client.callTool('ping')

/** Sends a request without the client. */
function post(version, method, params) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': version,
    'mcp-method': method,
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta, ...params } })
  return printingFetch(http.url, { method: 'POST', headers, body })
}

console.log('# A revision that the server does not support')
await post('2099-01-01', 'tools/list')

console.log('# Notifications are sent on the stream of a request')
const stream = await post('2026-07-28', 'subscriptions/listen', { notifications: { toolsListChanged: true } })
for await (const { message } of readEvents(stream)) {
  if (message.method !== 'notifications/subscriptions/acknowledged') break
  await server.notifyListChanged('tools')
}

await connection.close()
await http.close()
