import { protect } from '@x/auth/server'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'

const whoAmI = tool('who_am_i', {
  description: 'Says who asks',
  run: (_, { principal }) => `You are ${principal?.subject}`,
})
const server = createServer({ name: 'items', version: '1.0.0', tools: [whoAmI] })

const auth = protect({
  resource: 'https://mcp.example.com/mcp',
  issuers: ['https://auth.example.com'],
  scopes: ['items:read'],
})
await using http = await serveHttp(server, { auth })

// A request without a token is rejected. The challenge names the metadata of the resource.
const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
const { status, headers: answer } = await fetch(http.url, { method: 'POST', headers, body: '{}' })
console.log(status, answer.get('www-authenticate'))
