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
const startInstance = () => {
  const extensions = [legacy({ questionState: true })]
  return serveHttp(createServer({ name: 'demo', version: '1.0.0', state, tools: [greet], extensions }), { port: 0 })
}
let http = await startInstance()

// A client of revision 2025-11-25 that returns a state.
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const post = (message) =>
  printingFetch(http.url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) })
const capabilities = { elicitation: {}, experimental: { requestState: {} } }
const clientInfo = { name: 'old', version: '1.0.0' }
const initialized = await post({
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities, clientInfo },
})
headers['mcp-session-id'] = initialized.headers.get('mcp-session-id')
headers['mcp-protocol-version'] = '2025-11-25'

let question
let lastEventId
for await (const { id, message } of readEvents(
  await post({ id: 2, method: 'tools/call', params: { name: 'greet' } }),
)) {
  lastEventId = id
  if (message.method !== 'elicitation/create') continue
  question = message
  break
}

console.log('# The instance has ended. Another one has the same key')
await http.close({ graceMs: 0 })
http = await startInstance()
const { id, state: echoed } = question
await post({ id, state: echoed, result: { action: 'accept', content: { name: 'Ada' } } })
const resumed = await printingFetch(http.url, { headers: { ...headers, 'last-event-id': lastEventId } })
for await (const { message } of readEvents(resumed)) if (message.id === 2) break
await http.close()
