import { type ClientOptions, createClient, type ElicitAnswer } from '@x/client'
import { type Middleware, withNotify } from '@x/exchange'
import { isJsonObject, type JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import {
  type ReceivedRequest,
  openStream,
  createReply,
  createScriptedServer,
  type ScriptedServer,
  type ServerStream,
} from '../../testing/scripted-server.ts'
import { connectAny } from '../connect-node.ts'
import type { ConnectAnyOptions } from '../options.ts'

const host = { name: 'host', version: '1.2.3' }
/** The first call imports the transport, which takes long on a busy machine. */
const form = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } }
const capabilities = { tools: { listChanged: true }, prompts: {}, resources: { listChanged: true, subscribe: true } }

/** A server with a stream outside calls, which the test writes. */
function connect(
  { get, ...options }: ConnectAnyOptions & { readonly get?: () => Response } = {},
  handlers: Partial<ClientOptions> = {},
) {
  const streams: ServerStream[] = []
  const calls: ServerStream[] = []
  const handle = (one: ReceivedRequest): Response | undefined => {
    if (one.method === 'GET') {
      const stream = openStream()
      streams.push(stream)
      return get?.() ?? stream.response
    }
    if (one.message['method'] !== 'tools/call') return undefined
    calls.push(openStream())
    return calls.at(-1)?.response
  }
  const server = createScriptedServer({ capabilities, handle })
  const connection = connectAny('https://server.test/mcp', {
    revision: 'older',
    ...options,
    http: { fetch: server.fetch },
  })
  const elicit = () => ({ action: 'accept', content: {} }) as const
  const client = createClient(connection.exchange, { ...host, elicit, ...handlers })
  return { server, connection, client, streams, calls }
}

function endCall({ arrived }: ScriptedServer, calls: readonly ServerStream[], index = 0): void {
  const id = arrived.filter(({ message }) => message['method'] === 'tools/call')[index]?.message['id'] ?? null
  calls[index]?.send({ jsonrpc: '2.0', id, result: { content: [] } })
}

function request(id: number, method: string, params: JsonObject = {}): JsonObject {
  return { jsonrpc: '2.0', id, method, params }
}

describe('a request of the server on the stream outside calls', () => {
  test('is answered for the call that runs, and refused when none does [SCO-003]', async () => {
    const warnings: unknown[] = []
    const { server, client, streams, calls } = connect({ log: ({ code }) => warnings.push(code) })
    const result = client.callTool('greet')
    await expect.poll(() => calls.length).toBe(1)
    streams[0]?.send(request(1, 'elicitation/create', form))
    expect(await server.nextAnswer()).toMatchObject({ id: 1, result: { action: 'accept' } })
    endCall(server, calls)
    await result
    for (const [index, method] of ['elicitation/create', 'sampling/createMessage', 'roots/list'].entries()) {
      streams[0]?.send(request(index, method, form))
      expect(await server.nextAnswer()).toMatchObject({ id: index, error: { code: -32600 } })
    }
    expect(warnings).toEqual(['refused_request', 'refused_request', 'refused_request'])
  })

  test('is answered where it is a ping, or asks for roots that the host gives [LEG-054 LEG-078]', async () => {
    const roots = () => [{ uri: 'file:///work' }]
    const { server, client, streams } = connect({}, { roots })
    await using changes = client.listen({ toolsListChanged: true })
    await changes[Symbol.asyncIterator]().next()
    streams[0]?.send(request(1, 'ping'))
    expect(await server.nextAnswer()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    streams[0]?.send({ ...request(2, 'roots/list'), state: 'x' })
    expect(await server.nextAnswer()).toEqual({ jsonrpc: '2.0', id: 2, result: { roots: roots() }, state: 'x' })
  })

  test('gets the roots of the client, although the call that runs ends first [LEG-078]', async () => {
    const roots = async () => {
      endCall(server, calls)
      await result
      return [{ uri: 'file:///work' }]
    }
    const { server, client, streams, calls } = connect({}, { roots })
    const result = client.callTool('greet')
    await expect.poll(() => calls.length).toBe(1)
    streams[0]?.send(request(1, 'roots/list'))
    expect(await server.nextAnswer()).toMatchObject({ id: 1, result: { roots: [{ uri: 'file:///work' }] } })
  })

  test('gets an error where the call that it was asked for ends before it is answered', async () => {
    let accept = (): void => {}
    const elicit = () => {
      endCall(server, calls)
      return new Promise<ElicitAnswer>((resolve) => {
        accept = () => resolve({ action: 'accept', content: {} })
      })
    }
    const { server, client, streams, calls } = connect({}, { elicit })
    const result = client.callTool('greet')
    await expect.poll(() => calls.length).toBe(1)
    streams[0]?.send(request(1, 'elicitation/create', form))
    expect(await server.nextAnswer()).toMatchObject({ id: 1, error: { code: -32603 } })
    accept()
    await result
  })

  test('is not waited for where the server has no such stream', async () => {
    const { server, client, calls } = connect({ get: () => new Response(null, { status: 405 }) })
    for (let index = 0; index < 2; index += 1) {
      const result = client.callTool('greet')
      await expect.poll(() => calls.length).toBe(index + 1)
      const id = server.arrived.at(-1)?.message['id'] ?? null
      calls[index]?.send({ jsonrpc: '2.0', id, result: { content: [] } })
      await result
    }
    expect(server.methods().filter((method) => method === 'GET')).toHaveLength(1)
  })
})

describe('a subscription', () => {
  test('receives the changes that the server declares, over one stream for all, and ends without a trace [STD-007]', async () => {
    const { server, client, streams } = connect()
    const first = client.listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ['test://a'],
    })
    const second = client.listen({ resourceSubscriptions: ['test://a', 'test://b'] })
    const [one, two] = [first[Symbol.asyncIterator](), second[Symbol.asyncIterator]()]
    expect(await one.next()).toMatchObject({
      value: { type: 'opened', notifications: { toolsListChanged: true, resourceSubscriptions: ['test://a'] } },
    })
    expect(await two.next()).toMatchObject({ value: { type: 'opened' } })
    expect(streams).toHaveLength(1)
    streams[0]?.send({ jsonrpc: '2.0', method: 'notifications/prompts/list_changed' })
    streams[0]?.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    streams[0]?.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'test://b' } })
    expect(await one.next()).toMatchObject({ value: { type: 'toolsListChanged' } })
    expect(await two.next()).toMatchObject({ value: { type: 'resourceUpdated', uri: 'test://b' } })
    await first.close()
    await second.close()
    await expect.poll(() => uris(server.arrived, 'resources/unsubscribe')).toEqual(['test://a', 'test://b'])
    expect(uris(server.arrived, 'resources/subscribe')).toEqual(['test://a', 'test://b'])
  })

  test('opens its stream again when it ended, and says that something may be missed', async () => {
    const { client, streams } = connect()
    await using changes = client.listen({ toolsListChanged: true }, { reopen: { pauseMs: 1 } })
    const events = changes[Symbol.asyncIterator]()
    await events.next()
    streams[0]?.close()
    expect(await events.next()).toMatchObject({ value: { type: 'interrupted' } })
    expect(await events.next()).toMatchObject({ value: { type: 'opened', mayHaveMissedChanges: true } })
    streams[1]?.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    expect(await events.next()).toMatchObject({ value: { type: 'toolsListChanged' } })
  })

  test('receives nothing from a server without such a stream, and a warning is logged', async () => {
    const warnings: unknown[] = []
    const get = () => new Response(null, { status: 405 })
    const { client } = connect({ get, log: ({ code }) => warnings.push(code) })
    await using changes = client.listen({ toolsListChanged: true })
    expect(await changes[Symbol.asyncIterator]().next()).toMatchObject({ value: { type: 'opened', notifications: {} } })
    expect(warnings).toEqual(['no_subscription'])
  })
})

function uris(arrived: readonly ReceivedRequest[], method: string): unknown[] {
  const asked = arrived.filter(({ message }) => message['method'] === method)
  return asked.map(({ message }) => (isJsonObject(message['params']) ? message['params']['uri'] : undefined)).toSorted()
}

test('notifications on the stream of a call reach subscriptions too', async () => {
  const { server, client, calls } = connect()
  await using changes = client.listen({ toolsListChanged: true })
  const events = changes[Symbol.asyncIterator]()
  await events.next()
  const result = client.callTool('greet')
  await expect.poll(() => calls.length).toBe(1)
  calls[0]?.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  expect(await events.next()).toMatchObject({ value: { type: 'toolsListChanged' } })
  const one = server.arrived.find(({ message }) => message['method'] === 'tools/call')
  expect(one && createReply(one, {}).status).toBe(200)
  calls[0]?.send({ jsonrpc: '2.0', id: one?.message['id'] ?? null, result: { content: [] } })
  await result
})

test('a notification of an extension outside calls goes to the call that runs, and to none while two clients call [LEX-003]', async () => {
  const received: string[] = []
  const observe = (name: string): Middleware => {
    return (next) => (request, call) =>
      next(
        request,
        withNotify(call, ({ params }) => received.push(`${name} ${params?.['step']}`)),
      )
  }
  const { connection, client, server, streams, calls } = connect({}, { use: [observe('first')] })
  const other = createClient(connection.exchange, {
    ...host,
    elicit: () => ({ action: 'accept', content: {} }),
    use: [observe('other')],
  })
  const notify = async (step: number): Promise<void> => {
    streams[0]?.send({ jsonrpc: '2.0', method: 'com.example/step', params: { step } })
    // The answer to a request on the same stream shows that the notification was read.
    streams[0]?.send(request(step, 'ping'))
    expect(await server.nextAnswer()).toMatchObject({ id: step })
  }
  const result = client.callTool('greet')
  await expect.poll(() => [calls.length, streams.length]).toEqual([1, 1])
  await notify(1)
  const otherResult = other.callTool('greet')
  await expect.poll(() => calls.length).toBe(2)
  await notify(2)
  endCall(server, calls)
  await result
  await notify(3)
  expect(received).toEqual(['first 1', 'other 3'])
  endCall(server, calls, 1)
  await otherResult
})
