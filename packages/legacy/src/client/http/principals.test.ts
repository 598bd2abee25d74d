import { AsyncLocalStorage } from 'node:async_hooks'
import { createClient } from '@x/client'
import type { JsonObject } from '@x/schema'
import { expect, test } from 'vitest'
import { createElicitRequest } from '../../testing/scripted-calls.ts'
import { createReply, createScriptedServer, openStream, type ReceivedRequest } from '../../testing/scripted-server.ts'
import { connectAny } from '../connect-node.ts'

const hostInfo = { name: 'host', version: '1.0.0' }

test('users who share a connection have a session each, and no answer leaves with the token of another [LDG-009]', async () => {
  const user = new AsyncLocalStorage<string>()
  const handle = (one: ReceivedRequest): Response | undefined => {
    const token = one.headers.get('authorization')
    if (one.message['method'] !== 'initialize') return undefined
    const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} } }
    return createReply(one, result, { 'mcp-session-id': `session of ${token}` })
  }
  const server = createScriptedServer({ handle })
  const headers = () => ({ authorization: `Bearer ${user.getStore() ?? 'anonymous'}` })
  await using connection = connectAny('https://server.test/mcp', {
    revision: 'older',
    http: { headers, fetch: server.fetch },
  })
  const client = createClient(connection, hostInfo)
  await Promise.all(['ada', 'grace'].map((name) => user.run(name, () => client.callTool('greet'))))
  await user.run('ada', () => client.callTool('greet'))
  const calls = server.arrived.filter(({ message }) => message['method'] === 'tools/call')
  expect(calls.map(({ headers: sent }) => [sent.get('authorization'), sent.get('mcp-session-id')])).toEqual([
    ['Bearer ada', 'session of Bearer ada'],
    ['Bearer grace', 'session of Bearer grace'],
    ['Bearer ada', 'session of Bearer ada'],
  ])
  expect(server.methods().filter((method) => method === 'initialize')).toHaveLength(2)
})

test('a question outside calls is refused while calls of two clients run, and asked for those of one [LDG-009]', async () => {
  const outside = openStream()
  const calls: JsonObject[] = []
  const handle = ({ method, message }: ReceivedRequest): Response | undefined => {
    if (method === 'GET') return outside.response
    if (message['method'] !== 'tools/call') return undefined
    calls.push(message)
    return openStream().response
  }
  const server = createScriptedServer({ handle })
  await using connection = connectAny('https://server.test/mcp', {
    revision: 'older',
    http: { fetch: server.fetch },
    log: () => {},
  })
  const asked: string[] = []
  const clientOf = (name: string) =>
    createClient(connection, {
      ...hostInfo,
      elicit: () => {
        asked.push(name)
        return { action: 'accept', content: { name } }
      },
    })
  const [ada, grace] = [clientOf('ada'), clientOf('grace')]
  const ended: Promise<unknown>[] = []
  const start = async (client: typeof ada): Promise<void> => {
    const count = calls.length
    ended.push(client.callTool('greet').catch(() => {}))
    await expect.poll(() => calls.length).toBe(count + 1)
  }
  await start(ada)
  await start(ada)
  outside.send(createElicitRequest('q-1'))
  expect(await server.nextAnswer()).toMatchObject({ id: 'q-1', result: { content: { name: 'ada' } } })
  await start(grace)
  outside.send(createElicitRequest('q-2'))
  expect(await server.nextAnswer()).toMatchObject({ id: 'q-2', error: { code: -32600 } })
  expect(asked).toEqual(['ada'])
  await connection.close()
  await Promise.all(ended)
})
