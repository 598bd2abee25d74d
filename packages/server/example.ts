import { createCall, protocolVersion } from '@x/schema'
import { createServer, prompt, resourceTemplate, tool } from '@x/server'
import * as z from 'zod'

const greet = tool('greet', {
  description: 'Greets a person',
  input: z.object({ name: z.string().describe('Who is greeted') }),
  run: ({ name }) => `Hello, ${name}!`,
})

const review = prompt('review', {
  description: 'Asks for a review of code',
  input: z.object({ code: z.string() }),
  run: ({ code }) => `Please review this code:\n${code}`,
})

const note = resourceTemplate('note://{id}', {
  name: 'Note',
  mimeType: 'text/plain',
  read: ({ id }) => `The text of note ${id}`,
})

const server = createServer({
  name: 'demo',
  version: '1.0.0',
  tools: [greet],
  prompts: [prompt('hello', { run: () => 'Say hello' }), review],
  resourceTemplates: [note],
})

// A server is a function from request to response. Transports call it; so can you.
const _meta = {
  'io.modelcontextprotocol/protocolVersion': protocolVersion,
  'io.modelcontextprotocol/clientCapabilities': {},
}
const params = { name: 'greet', arguments: { name: 'Ada' }, _meta }
const response = await server.exchange(
  { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  createCall({ signal: AbortSignal.timeout(1000) }),
)

export const greeting: string = JSON.stringify('result' in response ? response.result['content'] : response.error)
