import { legacy } from '@x/legacy'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'

const ping = tool('ping', { description: 'Answers', run: () => 'pong' })
const server = createServer({ name: 'demo', version: '1.0.0', tools: [ping], extensions: [legacy()] })
const http = await serveHttp(server)

// The first message of a client of 2025-11-25.
const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'old', version: '1.0.0' } }
const response = await fetch(http.url, {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
})
const { result } = await response.json()
console.log(response.status, result.protocolVersion)

await http.close()
