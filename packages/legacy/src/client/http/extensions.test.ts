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

test('a method of no extension is not sent to a server that has declared none', async () => {
  const { server, client } = connect()
  await expect(client.request('com.example/count')).rejects.toThrow('does not exist in revision 2025-11-25')
  expect(server.methods()).not.toContain('com.example/count')
})
