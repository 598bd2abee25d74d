import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { FastMCP } from 'fastmcp'
import * as z from 'zod'
import { reportUsage } from './serve-measured.ts'

const server = new FastMCP({ name: 'bench', version: '1.0.0' })

server.addTool({
  name: 'echo',
  description: 'Repeats a text',
  parameters: z.object({ text: z.string(), times: z.number().int().min(1).max(10) }),
  execute: async ({ text, times }) => text.repeat(times),
})

// FastMCP does not report the port on which it listens, so port 0 is not possible.
const listener = createServer().listen(0, '127.0.0.1')
await once(listener, 'listening')
// A server that listens on a port has an address of this type.
const { port } = listener.address() as AddressInfo
listener.close()
await once(listener, 'close')
await server.start({ transportType: 'httpStream', httpStream: { host: '127.0.0.1', port, stateless: true } })
reportUsage(`http://127.0.0.1:${port}/mcp`)
