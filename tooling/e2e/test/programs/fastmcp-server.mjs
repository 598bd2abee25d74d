// A server of fastmcp over HTTP, with sessions or `stateless`. It logs to the console, so it has a process of its own.
import { FastMCP } from 'fastmcp'
import { z } from 'zod'

const server = new FastMCP({ name: 'fast', version: '1.0.0' })
server.addTool({
  name: 'add',
  description: 'Adds',
  parameters: z.object({ a: z.number() }),
  execute: async ({ a }) => `${a + 1}`,
})
const httpStream = { port: Number(process.env.PORT), host: '127.0.0.1', stateless: process.argv[2] === 'stateless' }
await server.start({ transportType: 'httpStream', httpStream })
console.log('listening')
