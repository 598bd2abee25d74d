import { legacy } from '@x/legacy'
import { createServer, form, randomKey, sealedState, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'

// The same keys on every instance, from its secrets: then any of them serves any session.
const state = sealedState({ keys: process.env['STATE_KEYS']?.split(',') ?? [randomKey()] })

const closing = form(z.object({ reason: z.string() }))
const close = tool('close_ticket', {
  description: 'Closes a ticket',
  input: z.object({ id: z.number().int() }),
  async run({ id }, ctx) {
    const { reason } = await ctx.elicit('reason', {
      message: `Why is #${id} closed?`,
      schema: closing,
    })
    return `#${id} is closed: ${reason}`
  },
})
const server = createServer({
  name: 'demo',
  version: '1.0.0',
  state,
  tools: [close],
  extensions: [legacy()],
})
await using http = await serveHttp(server)

// A client of 2025-11-25 introduces itself. Its requests then carry the session that it was given.
const response = await fetch(http.url, {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'host', version: '1.0.0' } },
  }),
})
const { result } = (await response.json()) as { result: { protocolVersion: string } }
console.log(result.protocolVersion, response.headers.has('mcp-session-id'))
