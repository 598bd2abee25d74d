import { type Call, clientSessionKey, createCall, withContext } from '@x/exchange'
import { metaKeys, type RpcRequest } from '@x/schema'
import { expect, test } from 'vitest'
import { connectAny } from '../connect-node.ts'
import { createReply, createScriptedServer, openStream, type ReceivedRequest } from '../../testing/scripted-server.ts'
import { createElicitRequest } from '../../testing/scripted-calls.ts'

const rejected = { error: { code: -32600, message: expect.stringContaining('open a connection for each user') } }

function callTool(clientName: string, more: object = {}): RpcRequest {
  const _meta = {
    [metaKeys.protocolVersion]: '2026-07-28',
    [metaKeys.clientInfo]: { name: clientName, version: '1.0.0' },
    [metaKeys.clientCapabilities]: { elicitation: { form: {} } },
  }
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'greet', arguments: {}, _meta, ...more } }
}

function callIn(session: string): Call {
  return withContext(createCall(), clientSessionKey, session)
}

test('an older server serves one user on a connection: another principal, session or client name is rejected [GWY-006]', async () => {
  const server = createScriptedServer()
  await using connection = connectAny('https://server.test/mcp', { revision: 'older', http: { fetch: server.fetch } })
  const ada = createCall({ principal: { subject: 'ada' } })
  expect(await connection.exchange(callTool('host'), ada)).toHaveProperty('result')
  expect(await connection.exchange(callTool('host'), ada)).toHaveProperty('result')
  const others: readonly [string, Call][] = [
    ['host', createCall({ principal: { subject: 'grace' } })],
    ['host', createCall()],
    ['host', callIn('b')],
    ['other', ada],
  ]
  for (const [name, call] of others) expect(await connection.exchange(callTool(name), call)).toMatchObject(rejected)
  expect(server.methods().filter((method) => method === 'tools/call')).toHaveLength(2)
})

test('another user cannot answer a question, with any state [GWY-004 GWY-006]', async () => {
  const stream = openStream()
  const handle = ({ message }: ReceivedRequest): Response | undefined => {
    if (message['method'] !== 'tools/call') return undefined
    stream.send(createElicitRequest('q-1'))
    return stream.response
  }
  const server = createScriptedServer({ handle })
  await using connection = connectAny('https://server.test/mcp', { revision: 'older', http: { fetch: server.fetch } })
  const question = await connection.exchange(callTool('host'), callIn('a'))
  const { requestState } = 'result' in question ? question.result : {}
  const answer = callTool('host', { requestState, inputResponses: { 'question-1': { action: 'decline' } } })
  const unknown = { error: { code: -32602 } }
  expect(await connection.exchange(answer, callIn('b'))).toMatchObject(unknown)
  const end = connection.exchange(answer, callIn('a'))
  expect(await server.nextAnswer()).toMatchObject({ id: 'q-1', result: { action: 'decline' } })
  await connection.close()
  await expect(end).rejects.toMatchObject({ code: 'closed' })
})

test('a connection sends notifications to an older server in its session, once the revision is known', async () => {
  const handle = (one: ReceivedRequest): Response | undefined =>
    one.message['method'] === 'initialize'
      ? createReply(one, { protocolVersion: '2025-11-25', capabilities: { tools: {} } }, { 'mcp-session-id': 's' })
      : undefined
  const server = createScriptedServer({ handle })
  await using connection = connectAny('https://server.test/mcp', { revision: 'older', http: { fetch: server.fetch } })
  const moved = { jsonrpc: '2.0', method: 'com.example/moved' } as const
  await expect(connection.notify(moved, createCall())).rejects.toThrow('No request has detected the revision')
  await connection.exchange(callTool('host'), createCall())
  await connection.notify(moved, createCall())
  const { message, headers } = server.arrived.at(-1) ?? {}
  expect([message, headers?.get('mcp-session-id')]).toEqual([moved, 's'])
  expect(connection.peer).toMatchObject({ namesCalls: true })
})
