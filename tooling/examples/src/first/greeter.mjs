import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import * as z from 'zod'

const greet = tool('greet', {
  description: 'Greets a user by name',
  input: z.object({ name: z.string().min(1) }),
  run: ({ name }) => `Hello, ${name}!`,
})
const server = createServer({ name: 'greeter', version: '1.0.0', tools: [greet] })

const client = createClient(server, { name: 'host', version: '1.0.0' })
console.log((await client.tools.greet({ name: 'Ada' })).content)
console.log((await client.callTool('greet', { name: '' })).content)
