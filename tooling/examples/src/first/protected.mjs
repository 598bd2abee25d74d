import { protect } from '@x/auth/server'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'

const ping = tool('ping', { description: 'Answers', run: () => 'pong' })
const server = createServer({ name: 'demo', version: '1.0.0', tools: [ping] })
const auth = protect({
  resource: 'http://localhost:3000/mcp',
  issuers: ['https://login.example.com'],
  scopes: ['items:read'],
})
const http = await serveHttp(server, { port: Number(process.env['PORT'] ?? 3000), auth })

const response = await fetch(http.url, {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
})
console.log(response.status)
console.log(response.headers.get('www-authenticate'))

await http.close()
