import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import * as z from 'zod'

const greet = tool('greet', {
  description: 'Greets a person',
  input: z.object({ name: z.string() }),
  run: ({ name }) => `Hello, ${name}!`,
})
const server = createServer({ name: 'demo', version: '1.0.0', tools: [greet] })

// In place of a server in this process: connectHttp('https://example.com/mcp') of @x/transport-http/client.
const client = createClient(server, { name: 'host', version: '1.0.0' })

for await (const { name, description } of client.eachTool()) console.log(`${name}: ${description}`)
const { content } = await client.tools.greet({ name: 'Ada' })
console.log(content)
