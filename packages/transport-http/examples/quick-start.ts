import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'

const greet = tool('greet', {
  description: 'Greets a person',
  input: z.object({ name: z.string() }),
  run: ({ name }) => `Hello, ${name}!`,
})
const server = createServer({ name: 'demo', version: '1.0.0', tools: [greet] })
const http = await serveHttp(server, { port: 0 })

const connection = connectHttp(http.url)
const client = createClient(connection, { name: 'host', version: '1.0.0' })
const { content } = await client.callTool('greet', { name: 'Ada' })
console.log(http.url, content)

await connection.close()
await http.close()
