import { legacy } from '@x/legacy'
import { createServer, form, randomKey, sealedState, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'
import { printingFetch, readEvents } from '../wire.mjs'

const schema = form(z.object({ name: z.string() }))
const greet = tool('greet', {
  description: 'Greets a user by name',
  run: async (_, ctx) => `Hello, ${(await ctx.elicit('who', { message: 'Who are you?', schema })).name}!`,
})
const state = sealedState({ keys: [randomKey()] })
const server = createServer({ name: 'demo', version: '1.0.0', state, tools: [greet], extensions: [legacy()] })
const http = await serveHttp(server, { port: 0 })

// A client of revision 2025-11-25.
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const post = (message) =>
  printingFetch(http.url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) })
const clientInfo = { name: 'old', version: '1.0.0' }
const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo }
const initialized = await post({ id: 1, method: 'initialize', params })
headers['mcp-session-id'] = initialized.headers.get('mcp-session-id')
headers['mcp-protocol-version'] = '2025-11-25'

const stream = await post({ id: 2, method: 'tools/call', params: { name: 'greet' } })
for await (const { message } of readEvents(stream)) {
  if (message.method !== 'elicitation/create') continue
  await post({ id: message.id, result: { action: 'accept', content: { name: 'Ada' } } })
}
await http.close()
