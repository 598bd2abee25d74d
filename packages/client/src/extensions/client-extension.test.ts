import { createCall, type Exchange, type Middleware } from '@x/exchange'
import { metaKeys, type RpcRequest } from '@x/schema'
import { createServer, tool } from '@x/server'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { ClientExtension, ClientExtensionInstance } from './client-extension.ts'
import { createClient } from '../create-client.ts'
import { hostInfo, createTextResult, createScriptedExchange } from '../testing/scripted-exchange.ts'

function extensionOf<Name extends string>(name: Name, start?: ClientExtension['start']): ClientExtension<Name> {
  return { extends: 'client', name, identifier: `com.example/${name}`, ...(start && { start }) }
}

function noting(name: string, notes: string[]): Middleware {
  return (next) => (request, call) => {
    notes.push(name)
    return next(request, call)
  }
}

describe('A client with extensions', () => {
  test('sends requests through use, then the extensions in their order', async () => {
    const notes: string[] = []
    const extensions = ['a', 'b'].map((name) => extensionOf(name, () => ({ middleware: noting(name, notes) })))
    const client = createClient(
      createScriptedExchange(() => createTextResult('hi')),
      { ...hostInfo, extensions, use: [noting('use', notes)] },
    )
    await client.callTool('greet')
    expect(notes).toEqual(['use', 'a', 'b'])
  })

  test('declares their capabilities with every request, beside its own', async () => {
    const exchange = createScriptedExchange(() => createTextResult('hi'))
    const extensions = ['a', 'b'].map((name) => ({
      ...extensionOf(name),
      capabilities: { extensions: { [`com.example/${name}`]: {} }, experimental: { [name]: {} } },
    }))
    const capabilities = { extensions: { 'com.example/own': {} } }
    await createClient(exchange, { ...hostInfo, capabilities, extensions }).callTool('greet')
    expect(exchange.received[0]?.request.params?._meta).toMatchObject({
      [metaKeys.clientCapabilities]: {
        extensions: { 'com.example/own': {}, 'com.example/a': {}, 'com.example/b': {} },
        experimental: { a: {}, b: {} },
      },
    })
  })

  test('has the members that they add, by their types', () => {
    const counting: ClientExtension<'counting', { count(): number }> = {
      extends: 'client',
      name: 'counting',
      identifier: 'com.example/counting',
      start: () => ({ api: { count: () => 1 } }),
    }
    const client = createClient(
      createScriptedExchange(() => createTextResult('hi')),
      { ...hostInfo, extensions: [counting] },
    )
    expectTypeOf(client.counting).toEqualTypeOf<{ count(): number }>()
    expect([client.counting.count(), client.serverInfo]).toEqual([1, undefined])
  })

  test('completes results of their types, and rejects with the reason where none of them does', async () => {
    const other = { resultType: 'com.example/later', ticket: 7 }
    const knowing: ClientExtension = extensionOf('knowing', () => ({
      wrapCall: (next) => async (call) => {
        const outcome = await next(call)
        if (outcome.resultType === 'complete' || outcome.result['ticket'] !== 7) return outcome
        return { resultType: 'complete', result: { resultType: 'complete', content: [] } }
      },
    }))
    const exchange = createScriptedExchange(() => other)
    const knows = createClient(exchange, { ...hostInfo, extensions: [knowing] })
    expect(await knows.callTool('greet')).toEqual({ resultType: 'complete', content: [] })
    await expect(createClient(exchange, hostInfo).callTool('greet')).rejects.toMatchObject({ code: 'invalid_result' })
  })

  test('is forked for a part of its calls, over the same connection and without the extension itself', async () => {
    const notes: string[] = []
    const requests: RpcRequest[] = []
    const exchange: Exchange = async (request) => {
      requests.push(request)
      return { jsonrpc: '2.0', id: request.id, result: createTextResult('hi') }
    }
    const forking: ClientExtension<'forking', { fork(): object }> = {
      extends: 'client',
      name: 'forking',
      identifier: 'com.example/forking',
      capabilities: { experimental: { forking: {} } },
      start: ({ fork }) => ({ api: { fork: () => fork(noting('fork', notes)) } }),
    }
    const client = createClient(exchange, { ...hostInfo, extensions: [forking] })
    const forked = client.forking.fork()
    expect(Object.keys(forked)).not.toContain('forking')
    await Reflect.get(forked, 'callTool')('greet')
    await client.callTool('greet')
    expect([notes, requests.length]).toEqual([['fork'], 2])
    expect(requests[0]?.params?._meta).toMatchObject({
      [metaKeys.clientCapabilities]: { experimental: { forking: {} } },
    })
  })

  test.each<[string, readonly unknown[], RegExp]>([
    ['a server extension', [{ extends: 'server', name: 'a', identifier: 'com.example/a' }], /not a client extension/],
    ['a factory', [() => ({})], /not a client extension; write the call/],
    ['one name twice', [extensionOf('a'), extensionOf('a')], /a member of this name exists/],
    ['the name of a member', [extensionOf('callTool')], /a member of this name exists/],
    ['the name of the member that is added last', [extensionOf('close')], /a member of this name exists/],
    ['the name that would make the client a promise', [extensionOf('then')], /"then": a member of this name exists/],
  ])('is refused with %s in the list', (_, extensions, message) => {
    // Untyped code may give anything.
    expect(() => createClient(createServer({ ...hostInfo }), { ...hostInfo, extensions: extensions as never })).toThrow(
      message,
    )
  })
})

describe('The end of a client', () => {
  const closing = (notes: string[]): ClientExtensionInstance => ({
    close: async () => void notes.push('extension'),
  })

  test('closes extensions and the connection', async () => {
    const notes: string[] = []
    const exchange: Exchange = async ({ id }) => ({ jsonrpc: '2.0', id, result: createTextResult('hi') })
    const connection = { exchange, close: async () => void notes.push('connection') }
    {
      await using client = createClient(connection, {
        ...hostInfo,
        extensions: [extensionOf('a', () => closing(notes))],
      })
      await client.callTool('greet')
    }
    expect(notes).toEqual(['extension', 'connection'])
  })

  test('leaves a server in this process to its owner', async () => {
    const server = createServer({ ...hostInfo, tools: [tool('greet', { description: 'Greets', run: () => 'hi' })] })
    await createClient(server, hostInfo).close()
    const request = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: {} } as const
    expect(await server.exchange(request, createCall())).toMatchObject({ id: 1 })
  })
})
