import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { legacy } from '@x/legacy'
import { createServer, form, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'

const nameForm = form(z.object({ name: z.string() }))
const greet = tool('greet', {
  description: 'Greets the user',
  async run(_, ctx) {
    const { name } = await ctx.elicit('name', { message: 'Who are you?', schema: nameForm })
    return `Hello, ${name}!`
  },
})
const server = createServer({ name: 'demo', version: '1.0.0', tools: [greet], extensions: [legacy()] })
const http = await serveHttp(server)

// A client of 2025-11-25 that can show forms. Without `elicitation`, the call returns an error that names it.
const client = new Client({ name: 'old', version: '1.0.0' }, { capabilities: { elicitation: {} } })
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  console.log(params.message)
  return { action: 'accept', content: { name: 'Ada' } }
})
await client.connect(new StreamableHTTPClientTransport(new URL(http.url)))
const { content } = await client.callTool({ name: 'greet', arguments: {} })
console.log(content[0].text)

await client.close()
await http.close()
