import { McpError, metaKeys } from '@x/schema'
import { prompt, resource, tool } from '@x/server'
import { expect, test } from 'vitest'
import { overEveryTransport } from './over-every-transport.ts'
import { send } from './raw-request.ts'

const definition = {
  tools: [
    tool('samples', { description: 'Needs sampling', requires: { sampling: {} }, run: () => 'sampled' }),
    tool('refuses', {
      description: 'Returns a custom error',
      run: () => {
        throw new McpError(4001, 'The work item is locked', { data: { by: 'Ada' } })
      },
    }),
  ],
  prompts: [
    prompt('leaks', {
      description: 'Fails with a secret in its message',
      run: () => {
        throw new Error('password=hunter2')
      },
    }),
  ],
  resources: [resource('test://one', { name: 'one', read: () => '1' })],
  log: () => {},
}

overEveryTransport('an error', (serve) => {
  test.each([
    ['an unknown tool [TOL-032]', { method: 'tools/call', params: { name: 'nothing', arguments: {} } }, -32602],
    [
      'a tool by a name of Object.prototype [TOL-032]',
      { method: 'tools/call', params: { name: 'constructor', arguments: {} } },
      -32602,
    ],
    [
      'a malformed tool call [TOL-032]',
      { method: 'tools/call', params: { name: 'samples', arguments: 'none' } },
      -32602,
    ],
    ['an unknown prompt', { method: 'prompts/get', params: { name: 'nothing' } }, -32602],
    ['an unknown resource [BAS-020]', { method: 'resources/read', params: { uri: 'test://none' } }, -32602],
    ['an unknown method', { method: 'tools/dance', params: {} }, -32601],
    ['a method by a name of Object.prototype', { method: 'toString', params: {} }, -32601],
    [
      'the handshake of earlier revisions',
      { method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
      -32601,
    ],
    ['a ping of earlier revisions', { method: 'ping', params: {} }, -32601],
  ])('answers %s with its code and the id of the request [BAS-012 BAS-013 BAS-014 BAS-019]', async (_, call, code) => {
    await using served = await serve(definition)
    const { response } = await send(served.connect().exchange, { ...call, id: 'a-7' })
    expect(response).toEqual({ jsonrpc: '2.0', id: 'a-7', error: expect.objectContaining({ code }) })
    expect(response).toMatchObject({ error: { message: expect.stringMatching(/\S/) } })
  })

  test('about a resource names the resource', async () => {
    await using served = await serve(definition)
    const failure = served.connect().client.readResource('test://none')
    await expect(failure).rejects.toMatchObject({ rpc: { code: -32602, data: { uri: 'test://none' } } })
  })

  test.each([
    ['clientCapabilities', { [metaKeys.clientCapabilities]: undefined }],
    ['clientCapabilities that are no object', { [metaKeys.clientCapabilities]: 'all' }],
  ])('rejects a request without %s [BAS-052]', async (_, meta) => {
    await using served = await serve(definition)
    const { response } = await send(served.connect().exchange, { method: 'tools/list', meta })
    expect(response).toMatchObject({ id: 1, error: { code: -32602 } })
  })

  test('is not returned for a request without clientInfo [BAS-054]', async () => {
    await using served = await serve(definition)
    const { response } = await send(served.connect().exchange, { method: 'tools/list' })
    expect(response).toHaveProperty('result')
  })

  test.each(['2025-11-25', '2099-01-01', 'latest'])(
    'rejects the version %s and lists the supported versions [VER-001 BAS-019]',
    async (version) => {
      await using served = await serve(definition)
      const { exchange, client } = served.connect()
      const { supportedVersions } = await client.discover()
      const meta = { [metaKeys.protocolVersion]: version }
      const { response } = await send(exchange, { method: 'tools/list', meta })
      expect(response).toMatchObject({
        error: { code: -32022, data: { supported: supportedVersions, requested: version } },
      })
    },
  )

  test('that a handler throws as McpError arrives with code, message and data', async () => {
    await using served = await serve(definition)
    const failure = served.connect().client.callTool('refuses')
    await expect(failure).rejects.toMatchObject({
      rpc: { code: 4001, message: 'The work item is locked', data: { by: 'Ada' } },
    })
  })

  test('of an unknown class does not send its message to the peer', async () => {
    await using served = await serve(definition)
    const { response } = await send(served.connect().exchange, { method: 'prompts/get', params: { name: 'leaks' } })
    expect(response).toMatchObject({ error: { code: -32603 } })
    expect(JSON.stringify(response)).not.toContain('hunter2')
  })
})

overEveryTransport('a tool that needs a capability', (serve) => {
  test('is rejected for a client without it, and the error names the capability [BAS-057 BAS-019]', async () => {
    await using served = await serve(definition)
    await expect(served.connect().client.callTool('samples')).rejects.toMatchObject({
      rpc: { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    })
  })

  test('runs for a request that declares it, and is rejected for the next request without it [BAS-027 BAS-056]', async () => {
    await using served = await serve(definition)
    const { exchange } = served.connect()
    const call = { method: 'tools/call', params: { name: 'samples', arguments: {} } }
    const able = await send(exchange, { ...call, meta: { [metaKeys.clientCapabilities]: { sampling: {} } } })
    expect(able.response).toHaveProperty('result')
    expect((await send(exchange, call)).response).toMatchObject({ error: { code: -32021 } })
  })
})
