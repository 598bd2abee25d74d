import { createServer, sealedState, tool } from '@x/server'
import type { ServerExtension } from '@x/exchange'
import { httpHandler } from '@x/transport-http'
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createRpcRequest, createScriptedClient } from '../testing/scripted-client.ts'
import { legacy } from './legacy.ts'

const uiExtension = 'io.modelcontextprotocol/ui'

function serve() {
  const received: string[] = []
  const counting: ServerExtension<'counting', object> = {
    extends: 'server',
    name: 'counting',
    identifier: uiExtension,
    capabilities: { version: 1 },
    notifications: ['com.example/seen'],
    start: () => ({
      api: {},
      methods: { 'com.example/count': () => ({ count: 3 }) },
      receive: ({ method }) => void received.push(method),
    }),
  }
  const look = tool('look', {
    description: 'Returns whether the client shows pages',
    run: (_, ctx) => String(ctx.can(uiExtension)),
  })
  const server = createServer({
    name: 'extended',
    version: '1.0.0',
    state: sealedState({ keys: [randomBytes(32)] }),
    tools: [look],
    extensions: [counting, legacy()],
  })
  return { client: createScriptedClient(httpHandler(server)), received }
}

test('extensions of a server are announced to older clients, and those of a client are known to handlers [LEX-001]', async () => {
  const { client } = serve()
  const plain = await client.initialize()
  expect(plain['capabilities']).toMatchObject({ extensions: { [uiExtension]: { version: 1 } } })
  const call = createRpcRequest('tools/call', { name: 'look', arguments: {} })
  expect((await client.post(call)).json).toMatchObject({ result: { content: [{ text: 'false' }] } })
  await client.initialize({ capabilities: { extensions: { [uiExtension]: {} } } })
  expect((await client.post(call)).json).toMatchObject({ result: { content: [{ text: 'true' }] } })
})

test('methods and notifications of extensions are served, also to a client that declares none [LEX-002]', async () => {
  const { client, received } = serve()
  await client.initialize()
  expect(await client.request('com.example/count')).toMatchObject({ result: { count: 3 } })
  expect(await client.request('com.example/unknown')).toMatchObject({ error: { code: -32601 } })
  await client.initialize({ capabilities: { extensions: { [uiExtension]: {} } } })
  expect(await client.request('com.example/count')).toMatchObject({ result: { count: 3 } })
  expect((await client.post({ jsonrpc: '2.0', method: 'com.example/seen', params: {} })).status).toBe(202)
  expect(received).toEqual(['com.example/seen'])
  expect(await client.request('server/discover')).toMatchObject({ error: { code: -32601 } })
})
