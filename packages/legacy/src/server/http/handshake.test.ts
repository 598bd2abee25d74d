import { randomBytes } from 'node:crypto'
import { isJsonObject, type JsonObject } from '@x/schema'
import { createServer, resource, sealedState, tool } from '@x/server'
import type { StateCodec } from '@x/state-codec'
import { httpHandler } from '@x/transport-http'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createRpcRequest, type ScriptedClient, createScriptedClient } from '../../testing/scripted-client.ts'
import { createLegacyServer } from '../../testing/serve-legacy.ts'

const greet = tool('greet', {
  description: 'Greets',
  input: z.object({ name: z.string() }),
  run: ({ name }) => `Hello, ${name}!`,
})
const notes = resource('test://notes', { name: 'notes', read: () => 'Notes' })

function connect(options: Parameters<typeof createLegacyServer>[1] = {}, revision?: string): ScriptedClient {
  const server = createLegacyServer({ tools: [greet], resources: [notes], instructions: 'Be kind' }, options)
  return createScriptedClient(httpHandler(server), revision)
}

function resultOf(message: JsonObject | undefined): JsonObject {
  const result = message?.['result']
  if (!isJsonObject(result)) throw new Error(`no result in ${JSON.stringify(message)}`)
  return result
}

test('initialize is answered with version, capabilities and server info [LEG-002 LEG-058]', async () => {
  const result = await connect().initialize()
  expect(result).toEqual({
    protocolVersion: '2025-11-25',
    capabilities: {
      logging: {},
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
    },
    serverInfo: { name: 'all-revisions', version: '1.2.3' },
    instructions: 'Be kind',
  })
})

test.each([
  ['2025-11-25', undefined, '2025-11-25'],
  ['2025-06-18', undefined, '2025-06-18'],
  ['2025-03-26', undefined, '2025-03-26'],
  ['2024-11-05', undefined, '2024-11-05'],
  ['2099-01-01', undefined, '2025-11-25'],
  ['2025-11-25', ['2025-06-18', '2025-03-26'] as const, '2025-06-18'],
])('a client that asks for %s of %s is answered %s [LEG-008 LEG-009 LEG-010]', async (asked, revisions, answered) => {
  const result = await connect({ ...(revisions && { revisions }) }).initialize({ protocolVersion: asked })
  expect(result['protocolVersion']).toBe(answered)
})

test('a session id is visible ASCII, and no two are the same [LEG-041 LEG-042]', async () => {
  const client = connect()
  await client.initialize()
  const first = client.sessionId
  await client.initialize()
  expect(first).toMatch(/^[\x21-\x7e]+$/)
  expect(client.sessionId).not.toBe(first)
})

test('lists, calls and reads are served without what older clients do not know [LEG-013]', async () => {
  const client = connect()
  await client.initialize()
  const { tools, ...list } = resultOf(await client.request('tools/list'))
  expect(list).toEqual({})
  expect(tools).toMatchObject([{ name: 'greet' }])
  const called = resultOf(await client.request('tools/call', { name: 'greet', arguments: { name: 'Ada' } }))
  expect(called).toEqual({ content: [{ type: 'text', text: 'Hello, Ada!' }] })
  const read = resultOf(await client.request('resources/read', { uri: 'test://notes' }))
  expect(read).toEqual({ contents: [{ uri: 'test://notes', text: 'Notes' }] })
})

test('ping is answered before and after initialized [LEG-054]', async () => {
  const client = connect()
  await client.initialize()
  expect(resultOf(await client.request('ping'))).toEqual({})
  const accepted = await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' })
  expect([accepted.status, accepted.json]).toEqual([202, undefined])
  expect(resultOf(await client.request('ping'))).toEqual({})
})

test('task augmentation is ignored [LEG-056]', async () => {
  const client = connect()
  await client.initialize()
  const params = { name: 'greet', arguments: { name: 'Ada' }, task: { ttl: 1000 } }
  expect(resultOf(await client.request('tools/call', params))).toMatchObject({ content: [{ text: 'Hello, Ada!' }] })
})

test('an unknown resource answers -32002 with its URI [LEG-062]', async () => {
  const client = connect()
  await client.initialize()
  expect(await client.request('resources/read', { uri: 'test://other' })).toMatchObject({
    error: { code: -32002, data: { uri: 'test://other' } },
  })
})

test('a session is open at every instance with the same keys [LEG-087]', async () => {
  const connectInstance = (state: StateCodec): ScriptedClient =>
    createScriptedClient(httpHandler(createLegacyServer({ tools: [greet], state })))
  const state = sealedState({ keys: [randomBytes(32)] })
  const first = connectInstance(state)
  await first.initialize()
  const second = connectInstance(state)
  const headers = { 'mcp-session-id': first.sessionId, 'mcp-protocol-version': '2025-11-25' }
  expect((await second.post(createRpcRequest('ping'), headers)).status).toBe(200)
  const other = connectInstance(sealedState({ keys: [randomBytes(32)] }))
  expect((await other.post(createRpcRequest('ping'), headers)).status).toBe(404)
})

test('a request that states its version is served as 2026-07-28, although its session is older [LEG-080 LEG-081]', async () => {
  const client = connect()
  await client.initialize()
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
  const { json } = await client.post(createRpcRequest('tools/list', { _meta }), headers)
  expect(json).toMatchObject({ result: { resultType: 'complete' } })
  const mixed = await client.post(createRpcRequest('tools/list', { _meta }))
  expect([mixed.status, mixed.json]).toMatchObject([400, { error: { code: -32020 } }])
})

test('a revision that is not served answers 400, with all revisions that are served [LEG-049]', async () => {
  const client = connect()
  await client.initialize()
  const { status, json } = await client.post(createRpcRequest('ping'), { 'mcp-protocol-version': '2024-10-07' })
  const supported = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
  expect([status, json]).toMatchObject([400, { error: { data: { supported } } }])
})

test('a request without session and version is taken for one of 2025-03-26 [LEG-048]', async () => {
  const { status, json } = await connect().post(createRpcRequest('tools/list'))
  expect([status, json]).toMatchObject([200, { result: { tools: [{ name: 'greet' }] } }])
})

test('a client that drops its session is served all that needs none', async () => {
  const headers = { 'mcp-protocol-version': '2025-06-18' }
  const { status, json } = await connect().post(createRpcRequest('tools/list'), headers)
  expect([status, json]).toMatchObject([200, { result: { tools: [{ name: 'greet' }] } }])
})

test('without the package an initialize is rejected as before [LEG-095]', async () => {
  const client = createScriptedClient(httpHandler(createServer({ name: 'modern', version: '1.0.0', tools: [greet] })))
  await expect(client.initialize()).rejects.toThrow(
    'this server speaks only MCP 2026-07-28; the client opened with 2025-11-25',
  )
})

test.each([
  [{ revisions: [] }, TypeError],
  [{ sessionTtlMs: 0 }, RangeError],
  [{ answerTimeoutMs: 1.5 }, RangeError],
])('options that make no sense are rejected: %o', (options, error) => {
  expect(() => createLegacyServer({}, options)).toThrow(error)
})
