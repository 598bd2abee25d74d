import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { z } from 'zod'

const greet = tool('greet', {
  description: 'Greets somebody by name',
  input: z.object({ name: z.string() }),
  run: ({ name }) => `Hello, ${name}!`,
})
const server = createServer({ name: 'hello', version: '1.0.0', tools: [greet] })
const http = await serveHttp(server, { port: 3000 })

const connection = connectHttp(http.url)
const client = createClient(connection, { name: 'hello-client', version: '1.0.0' })
console.log((await client.listTools()).map(({ name }) => name))
console.log((await client.callTool('greet', { name: 'world' })).content)

await connection.close()
await http.close()
