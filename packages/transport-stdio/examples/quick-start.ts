import { fileURLToPath } from 'node:url'
import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { connectStdio, serveStdio } from '@x/transport-stdio'
import * as z from 'zod'

const greet = tool('greet', {
  description: 'Greets a person',
  input: z.object({ name: z.string() }),
  run: ({ name }) => `Hello, ${name}!`,
})

if (process.argv[2] === 'serve') {
  // The server's process: it serves stdin and stdout until its client exits.
  serveStdio(createServer({ name: 'demo', version: '1.0.0', tools: [greet] }))
} else {
  // The client's process: it starts this file again as the server.
  const connection = connectStdio({ command: process.execPath, args: [fileURLToPath(import.meta.url), 'serve'] })
  const client = createClient(connection, { name: 'host', version: '1.0.0' })
  const { content } = await client.callTool('greet', { name: 'Ada' })
  console.log(content)
  await connection.close()
}
