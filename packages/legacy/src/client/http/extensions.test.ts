import { expect, test } from 'vitest'
import { connectScriptedServer as connect } from '../../testing/scripted-calls.ts'
import { createReply, openStream, type ReceivedRequest } from '../../testing/scripted-server.ts'

const uiExtension = 'io.modelcontextprotocol/ui'

test('extensions pass to and from an older server: capabilities, methods, results, notifications [LEX-003]', async () => {
  const stream = openStream()
  const handle = (one: ReceivedRequest): Response | undefined => {
    const { method, id } = one.message
    if (method === 'com.example/count') return createReply(one, { resultType: 'com.example/counted', count: 3 })
    if (method !== 'tools/call') return undefined
    stream.send({ jsonrpc: '2.0', method: 'com.example/changed', params: { step: 1 } })
    stream.send({ jsonrpc: '2.0', id: id ?? null, result: { content: [], _meta: { [`${uiExtension}.size`]: 1 } } })
    stream.close()
    return stream.response
  }
  const heard: string[] = []
  const { server, client } = connect(
    {
      capabilities: { extensions: { [uiExtension]: { mimeTypes: ['text/html'] } } },
      use: [
        (next) => (request, call) =>
          next(request, {
            ...call,
            context: call.context,
            signal: call.signal,
            notify: ({ method }) => heard.push(method),
          }),
      ],
    },
    {},
    { capabilities: { tools: {}, extensions: { [uiExtension]: {}, 'com.example/count': {} } }, handle },
  )
  expect((await client.discover()).capabilities.extensions).toEqual({ [uiExtension]: {}, 'com.example/count': {} })
  expect(server.arrived[0]?.message).toMatchObject({
    params: { capabilities: { extensions: { [uiExtension]: { mimeTypes: ['text/html'] } } } },
  })
  expect(await client.request('com.example/count')).toMatchObject({ resultType: 'com.example/counted', count: 3 })
  expect(await client.callTool('greet')).toMatchObject({ _meta: { [`${uiExtension}.size`]: 1 } })
  expect(heard).toEqual(['com.example/changed'])
})

test('a method of an extension is sent to a server that has declared none, and only the server refuses it [ROB-008]', async () => {
  const handle = (one: ReceivedRequest): Response | undefined =>
    one.message['method'] === 'com.example/count' ? createReply(one, { count: 3 }) : undefined
  const { server, client } = connect({}, {}, { handle })
  expect(await client.request('com.example/count', { task: 'kept' })).toMatchObject({ count: 3 })
  expect(server.arrived.at(-1)?.message['params']).toMatchObject({ task: 'kept' })
  await expect(client.request('com.example/other')).rejects.toThrow('the server answered -32601 Method not found')
})

test.each([
  ['prompts/get', 'prompts/get on scripted 1.0.0: not sent, because the server does not have the capability prompts'],
  [
    'resources/list',
    'resources/list on scripted 1.0.0: not sent, because the server does not have the capability resources',
  ],
  ['tasks/get', 'tasks/get on scripted 1.0.0: not sent, because tasks/get needs a server of revision 2026-07-28'],
  ['initialize', 'initialize on scripted 1.0.0: not sent, because initialize does not exist in revision 2026-07-28'],
])(
  '%s, which no extension has, is not sent without its capability, and the error says so [LEG-014 ROB-008]',
  async (method, text) => {
    const { server, client } = connect()
    await client.discover()
    const count = server.arrived.length
    const failure = client.request(method, {})
    await expect(failure).rejects.toMatchObject({ message: text, rpc: { code: -32601, data: { reason: 'not_sent' } } })
    expect(server.arrived).toHaveLength(count)
  },
)
