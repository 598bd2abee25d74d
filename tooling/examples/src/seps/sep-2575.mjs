import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { printingFetch } from '../wire.mjs'

const ping = tool('ping', { description: 'Answers', run: () => 'pong' })
const http = await serveHttp(createServer({ name: 'demo', version: '1.0.0', tools: [ping] }), { port: 0 })
const connection = connectHttp(http.url, { fetch: printingFetch })
const client = createClient(connection, { name: 'host', version: '1.0.0' })

console.log('# A client asks what the server can do')
await client.discover()

console.log('# Any request stands alone')
await client.callTool('ping')

console.log('# A revision that the server does not speak')
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2099-01-01',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2099-01-01',
  'mcp-method': 'tools/list',
}
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } })
await printingFetch(http.url, { method: 'POST', headers, body })

await connection.close()
await http.close()
