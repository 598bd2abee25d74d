import { setTimeout } from 'node:timers/promises'
import { createClient } from '@x/client'
import type { Exchange } from '@x/exchange'
import { connectHttp } from '@x/transport-http/client'
import { Client } from 'undici'

const [url = '', kind = ''] = process.argv.slice(2)
const names = { name: 'host', version: '1.0.0' }

const answer: Exchange = async ({ id }) => ({ jsonrpc: '2.0', id, result: { resultType: 'complete', content: [] } })

/** Opens one client or socket, and uses it once. */
async function open(): Promise<object> {
  if (kind === 'socket of undici') {
    const socket = new Client(new URL(url).origin)
    const { body } = await socket.request({ path: '/mcp', method: 'POST', body: '{"id":1,"method":"tools/call"}' })
    await body.text()
    return socket
  }
  const client = createClient(kind === 'client alone' ? answer : connectHttp(url), names)
  await client.callTool('echo', { text: 'x' })
  return client
}

const opened: object[] = []

/** Opens a number of clients or sockets, and returns the bytes of heap in use. */
async function heapAfter(count: number): Promise<number> {
  for (let index = 0; index < count; index++) opened.push(await open())
  await setTimeout(300)
  for (let collection = 0; collection < 6; collection++) globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const count = 300
const before = await heapAfter(50)
const after = await heapAfter(count)
process.stdout.write(String((after - before) / count / 1024))
process.exit(opened.length === count + 50 ? 0 : 1)
