import { createClient } from '@x/client'
import { expect, test } from 'vitest'
import {
  type ReceivedRequest,
  createReply,
  createErrorReply,
  createScriptedServer,
  type ServerScript,
} from '../../testing/scripted-server.ts'
import { connectAny } from '../connect-node.ts'
import type { ConnectAnyOptions } from '../options.ts'

const url = 'https://server.test/mcp'
const host = { name: 'host', version: '1.2.3' }

function connect(script: ServerScript = {}, options: ConnectAnyOptions = {}) {
  const server = createScriptedServer(script)
  const connection = connectAny(url, { ...options, http: { ...options.http, fetch: server.fetch } })
  const client = createClient(connection, { ...host, elicit: () => ({ action: 'accept', content: {} }) })
  return { server, connection, client }
}

test.each([
  ['404', () => new Response(null, { status: 404 })],
  ['400 and the code -32000', (one: ReceivedRequest) => createErrorReply(one, lostSessionError, 400)],
])(
  'a session that the server forgot, as it says by %s, is begun anew without its id, and the call sent again [LEG-046]',
  async (_, forget) => {
    let sessions = 0
    let isForgotten = false
    const handle = (one: ReceivedRequest) => {
      const { method } = one.message
      if (method === 'initialize') {
        sessions += 1
        expect(one.headers.get('mcp-session-id')).toBeNull()
        const result = {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, prompts: sessions > 1 ? {} : false },
        }
        return createReply(one, result, { 'mcp-session-id': `session-${sessions}` })
      }
      if (isForgotten && one.headers.get('mcp-session-id') === 'session-1') return forget(one)
      return undefined
    }
    const { server, client, connection } = connect({ handle })
    await client.callTool('greet')
    isForgotten = true
    await client.callTool('greet')
    expect(server.methods().filter((method) => method === 'tools/call')).toHaveLength(3)
    expect(sessions).toBe(2)
    expect(connection.peer).toMatchObject({ capabilities: { prompts: {} } })
  },
)

const lostSessionError = { code: -32000, message: 'Bad Request: No valid session ID provided' }

test.each([
  ['with another code', -32600, 1],
  ['that means something else by -32000', -32000, 2],
])('an answer 400 %s is the answer to the call', async (_, code, handshakeCount) => {
  const handle = (one: ReceivedRequest) =>
    one.message['method'] === 'tools/call' ? createErrorReply(one, { code, message: 'Bad' }, 400) : undefined
  const { server, client } = connect({ handle })
  await expect(client.callTool('greet')).rejects.toMatchObject({ code: 'rpc', rpc: { code, message: 'Bad' } })
  expect(server.methods().filter((method) => method === 'initialize')).toHaveLength(handshakeCount)
})

test('a lost session that shows at the stream for questions is begun anew too', async () => {
  let isForgotten = true
  const handle = (one: ReceivedRequest) => {
    if (one.method !== 'GET' || !isForgotten) return undefined
    isForgotten = false
    return createErrorReply(one, lostSessionError, 400)
  }
  const { server, client } = connect({ handle, capabilities: { tools: { listChanged: true } } })
  await using changes = client.listen({ toolsListChanged: true })
  await changes[Symbol.asyncIterator]().next()
  expect(server.methods().filter((method) => method === 'initialize')).toHaveLength(2)
})

test('a server that forgets every session is not asked without end', async () => {
  const handle = (one: ReceivedRequest) =>
    one.message['method'] === 'tools/call' ? new Response(null, { status: 404 }) : undefined
  const { server, client } = connect({ handle })
  await expect(client.callTool('greet')).rejects.toMatchObject({ code: 'transport' })
  expect(server.methods().filter((method) => method === 'initialize')).toHaveLength(2)
})
