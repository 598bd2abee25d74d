import { Duplex, PassThrough } from 'node:stream'
import { clientAddressKey, type Middleware, transportKey, withNotify } from '@x/exchange'
import { isJsonObject, type JsonObject } from '@x/schema'
import { resource, type ServerDefinition, tool } from '@x/server'
import { serveStdio } from '@x/transport-stdio'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createRpcRequest } from '../../testing/scripted-client.ts'
import { createLegacyServer } from '../../testing/serve-legacy.ts'
import { legacyPeerOf } from '../call/legacy-call.ts'
import type { LegacyOptions } from '../session/options.ts'

const named = z.object({ name: z.string() })
const greet = tool('greet', {
  description: 'Asks for a name',
  run: async (_, ctx) => JSON.stringify(await ctx.elicitResult('name', { message: 'Name?', schema: named })),
})
const revision = tool('revision', {
  description: 'Says which revision the client speaks',
  run: (_, ctx) => legacyPeerOf(ctx)?.revision ?? ctx.client.version,
})
const notes = resource('test://notes', { name: 'notes', read: () => 'Notes' })
const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A client that writes lines and reads lines. */
function open(definition: Partial<ServerDefinition> = {}, options?: LegacyOptions) {
  const [there, back] = [new PassThrough(), new PassThrough()]
  const far = Duplex.from({ readable: there, writable: back })
  const server = createLegacyServer(
    { tools: [greet, revision], resources: [notes], strictReplay: false, ...definition },
    options,
  )
  const service = serveStdio(server, { input: far, output: far, graceMs: 30 })
  const lines = readLines(back)
  const say = (message: object): void => void there.write(`${JSON.stringify(message)}\n`)
  const next = async (): Promise<JsonObject> => {
    const { value } = await lines.next()
    const message: unknown = JSON.parse(value ?? 'null')
    if (!isJsonObject(message)) throw new Error('the stream has ended')
    return message
  }
  const initialize = async (capabilities: JsonObject = { elicitation: {} }): Promise<JsonObject> => {
    const clientInfo = { name: 'c', version: '1' }
    say(createRpcRequest('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo }))
    const response = await next()
    say({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return response
  }
  return { server, say, next, initialize, [Symbol.asyncDispose]: () => service.close() }
}

async function* readLines(stream: PassThrough): AsyncGenerator<string, undefined> {
  let rest = ''
  for await (const chunk of stream.setEncoding('utf8')) {
    const parts = (rest + String(chunk)).split('\n')
    rest = parts.pop() ?? ''
    yield* parts
  }
  return undefined
}

function textIn({ result }: JsonObject): unknown {
  const content = isJsonObject(result) ? result['content'] : undefined
  return Array.isArray(content) && isJsonObject(content[0]) ? content[0]['text'] : undefined
}

test('a client that initializes is asked in the middle of a call, by a request of the server [LEG-050 LEG-082]', async () => {
  await using peer = open()
  expect(await peer.initialize()).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
  const call = createRpcRequest('tools/call', { name: 'greet', arguments: {} })
  peer.say(call)
  const question = await peer.next()
  expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'Name?' } })
  peer.say({ jsonrpc: '2.0', id: question['id'], result: { action: 'accept', content: { name: 'Ada' } } })
  const response = await peer.next()
  expect([response['id'], textIn(response)]).toEqual([call.id, '{"action":"accept","content":{"name":"Ada"}}'])
})

test('all revisions run side by side in one process [LEG-050 LEG-080 LEG-081]', async () => {
  await using peer = open()
  await peer.initialize()
  peer.say(createRpcRequest('tools/call', { name: 'revision', arguments: {} }))
  expect(textIn(await peer.next())).toBe('2025-11-25')
  peer.say(createRpcRequest('tools/call', { name: 'revision', arguments: {}, _meta: modernMeta }))
  const modern = await peer.next()
  expect([textIn(modern), modern['result']]).toMatchObject(['2026-07-28', { resultType: 'complete' }])
})

test('calls of all revisions have the transport and the address of the process', async () => {
  const transport = tool('transport', {
    description: 'Says which transport a call came over',
    run: (_, ctx) => `${ctx.context.get(transportKey)} ${ctx.context.get(clientAddressKey)}`,
  })
  await using peer = open({ tools: [transport] })
  await peer.initialize()
  peer.say(createRpcRequest('tools/call', { name: 'transport', arguments: {} }))
  expect(textIn(await peer.next())).toBe('stdio stdio')
  peer.say(createRpcRequest('tools/call', { name: 'transport', arguments: {}, _meta: modernMeta }))
  expect(textIn(await peer.next())).toBe('stdio stdio')
})

test('before initialize the error of a request without a version names the revisions that are served', async () => {
  await using peer = open()
  peer.say(createRpcRequest('tools/list'))
  expect(await peer.next()).toMatchObject({ error: { code: -32602 } })
})

test('a cancelled call is not answered, and its question is cancelled [LEG-052]', async () => {
  await using peer = open()
  await peer.initialize()
  const call = createRpcRequest('tools/call', { name: 'greet', arguments: {} })
  peer.say(call)
  const question = await peer.next()
  peer.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: call.id } })
  expect(await peer.next()).toMatchObject({
    method: 'notifications/cancelled',
    params: { requestId: question['id'] },
  })
  const ping = createRpcRequest('ping')
  peer.say(ping)
  expect(await peer.next()).toEqual({ jsonrpc: '2.0', id: ping.id, result: {} })
})

test('an answer to nothing is ignored', async () => {
  await using peer = open()
  await peer.initialize()
  peer.say({ jsonrpc: '2.0', id: 'unknown', result: {} })
  const ping = createRpcRequest('ping')
  peer.say(ping)
  expect(await peer.next()).toMatchObject({ id: ping.id })
})

test('list changes and updates of subscribed resources are sent after initialized [LEG-005 LEG-061 LEG-063]', async () => {
  await using peer = open()
  await peer.initialize()
  peer.say(createRpcRequest('resources/subscribe', { uri: 'test://notes' }))
  expect(await peer.next()).toMatchObject({ result: {} })
  await peer.server.notifyResourceUpdated('test://notes')
  expect(await peer.next()).toMatchObject({ method: 'notifications/resources/updated' })
  await peer.server.notifyListChanged('tools')
  expect(await peer.next()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
})

test('a subscription to a resource is answered once the server has acknowledged it', async () => {
  let arrive = (): void => {}
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const holdAcknowledgement: Middleware = (next) => (request, call) => {
    const notifications = request.params?.['notifications']
    const isSession = isJsonObject(notifications) && notifications['toolsListChanged'] === true
    if (!isSession || notifications['resourceSubscriptions'] === undefined) return next(request, call)
    return next(
      request,
      withNotify(call, (message) => {
        arrive()
        void released.then(() => call.notify(message))
      }),
    )
  }
  await using peer = open({ use: [holdAcknowledgement] })
  await peer.initialize()
  const [subscribe, ping] = [createRpcRequest('resources/subscribe', { uri: 'test://notes' }), createRpcRequest('ping')]
  peer.say(subscribe)
  await arrived
  peer.say(ping)
  expect(await peer.next()).toMatchObject({ id: ping.id })
  release()
  expect(await peer.next()).toMatchObject({ id: subscribe.id, result: {} })
})

test('log messages carry nothing that older clients do not know [LEG-013]', async () => {
  const logs = tool('logs', {
    description: 'Logs',
    run: (_, ctx) => {
      ctx.log('info', 'hello')
      return 'done'
    },
  })
  await using peer = open({ tools: [logs] })
  await peer.initialize()
  peer.say(createRpcRequest('tools/call', { name: 'logs', arguments: {} }))
  expect(await peer.next()).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: { level: 'info', data: 'hello' },
  })
  expect(await peer.next()).toMatchObject({ result: { content: [{ text: 'done' }] } })
})

test('a client that never answers ends its own calls alone', async () => {
  await using peer = open({}, { answerTimeoutMs: 20 })
  await peer.initialize()
  peer.say(createRpcRequest('tools/call', { name: 'greet', arguments: {} }))
  const question = await peer.next()
  expect(await peer.next()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: question['id'] } })
  expect(textIn(await peer.next())).toBe('{"action":"cancel"}')
})
