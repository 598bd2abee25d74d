import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { FastMCP } from 'fastmcp'
import * as z from 'zod'

const server = new FastMCP({ name: 'bench', version: '1.0.0' })

server.addTool({
  name: 'echo',
  description: 'Repeats a text',
  parameters: z.object({ text: z.string(), times: z.number().int().min(1).max(10) }),
  execute: async ({ text, times }) => text.repeat(times),
})

const port = await findFreePort()
await server.start({ transportType: 'httpStream', httpStream: { host: '127.0.0.1', port, stateless: true } })
process.stdout.write(`${port}\n`)

// FastMCP does not report the port on which it listens, so port 0 is not possible.
async function findFreePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  // A server that listens on a port has an address of this type.
  const { port: free } = listener.address() as AddressInfo
  listener.close()
  await once(listener, 'close')
  return free
}
