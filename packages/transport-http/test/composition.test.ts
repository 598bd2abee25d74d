import {
  type Call,
  clientAddressKey,
  createCall,
  type Exchange,
  type Middleware,
  type Server,
  type ServerExtension,
  serverOf,
  transportKey,
} from '@x/exchange'
import type { RpcNotification } from '@x/schema'
import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { connectHttp } from '../src/client.ts'
import { httpHandler } from '../src/index.ts'
import { nodeHandler, serveHttp } from '../src/node.ts'
import { createPostRequest } from '../src/testing/sent.ts'
import { serveFunctions } from '../src/testing/shells.ts'

const about = { name: 'demo', version: '1.0.0' }
const timing: Middleware = (next) => (request, call) => next(request, call)
const restricted: ServerExtension<'restricted', undefined> = {
  extends: 'server',
  name: 'restricted',
  identifier: 'com.example/restricted',
  needsPrincipal: true,
}
const local: ServerExtension<'local', undefined> = {
  extends: 'server',
  name: 'local',
  identifier: 'com.example/local',
  localOnly: 'its files are on this machine',
}

describe('a server that other machines must not reach', () => {
  const unsafe: readonly [string, Server, RegExp][] = [
    [
      'with a local extension, behind middleware',
      createServer({ ...about, state: false, use: [timing], extensions: [local] }),
      /its files are on this machine/,
    ],
    [
      'with a local extension after another one',
      createServer({ ...about, state: false, extensions: [restricted, local] }),
      /its files are on this machine/,
    ],
    [
      'whose extension needs a principal',
      createServer({ ...about, state: false, use: [timing], extensions: [restricted] }),
      /give auth/,
    ],
    ['that is an exchange', serverOf(createServer(about).exchange, { info: about, localOnly: 'no keys' }), /no keys/],
  ]

  test.each(unsafe)('%s is rejected by every host', async (_, server, reason) => {
    await expect(serveHttp(server, { host: '0.0.0.0', allowedHosts: ['mcp.example.com'] })).rejects.toThrow(reason)
    for (const allowedHosts of [['mcp.example.com'], ['localhost', '192.0.2.1'], '*'] as const) {
      expect(() => httpHandler(server, { allowedHosts })).toThrow(reason)
      expect(() => nodeHandler(server, { allowedHosts })).toThrow(reason)
    }
  })

  test.each(unsafe)('%s serves this machine', async (_, server) => {
    expect(() => httpHandler(server)).not.toThrow()
    expect(() => nodeHandler(server, { allowedHosts: ['127.0.0.1', '[::1]:3000'] })).not.toThrow()
  })

  test('is served beyond loopback once its principal is authenticated', async () => {
    const server = createServer({ ...about, state: false, extensions: [restricted] })
    const auth = () => ({ subject: 'ada' })
    await using http = await serveHttp(server, { host: '0.0.0.0', allowedHosts: ['127.0.0.1'], auth })
    expect(http.port).toBeGreaterThan(0)
  })
})

/** An extension that records the notifications that it receives, and its end. */
function recorder() {
  const received: { readonly notification: RpcNotification; readonly call: Call }[] = []
  const close = vi.fn(async () => {})
  const extension: ServerExtension<'recorder', undefined> = {
    extends: 'server',
    name: 'recorder',
    identifier: 'com.example/recorder',
    notifications: ['com.example/moved'],
    start: () => ({ receive: (notification, call) => void received.push({ notification, call }), close }),
  }
  return { extension, received, close }
}

describe.each(serveFunctions)('a notification of a client over %s', (name, serve) => {
  test('reaches the extension that declares it, with its principal and context, and no other does', async () => {
    const { extension, received } = recorder()
    const server = createServer({ ...about, state: false, extensions: [extension] })
    const auth = () => ({ subject: 'ada' })
    const clientAddress = () => '192.0.2.7'
    await using handler = await serve(server, { auth, clientAddress })
    for (const method of ['com.example/moved', 'com.example/other']) {
      const body = JSON.stringify({ jsonrpc: '2.0', method, params: { to: 3 } })
      expect((await handler.send(createPostRequest(method, {}, { body }))).status).toBe(202)
    }
    expect(received.map(({ notification }) => notification)).toMatchObject([
      { method: 'com.example/moved', params: { to: 3 } },
    ])
    const call = received[0]?.call
    expect(call?.principal).toEqual({ subject: 'ada' })
    expect([call?.context.get(transportKey), call?.context.get(clientAddressKey)]).toEqual(['http', '192.0.2.7'])
    expect(name).toMatch(/Handler$/)
  })
})

test('a connection sends a notification, and rejects if the server does not accept it', async () => {
  const { extension, received } = recorder()
  await using http = await serveHttp(createServer({ ...about, state: false, extensions: [extension] }))
  await using connection = connectHttp(http.url)
  await connection.notify({ jsonrpc: '2.0', method: 'com.example/moved', params: { to: 3 } }, createCall())
  expect(received.map(({ notification }) => notification)).toMatchObject([
    { method: 'com.example/moved', params: { to: 3 } },
  ])
  await using refusing = connectHttp(http.url, { fetch: async () => new Response('no', { status: 400 }) })
  const moved: RpcNotification = { jsonrpc: '2.0', method: 'com.example/moved' }
  await expect(refusing.notify(moved, createCall())).rejects.toMatchObject({ code: 'status', status: 400 })
  await connection.close()
  await expect(connection.notify(moved, createCall())).rejects.toMatchObject({ code: 'closed' })
})

test('a notification reaches its extension in memory', () => {
  const { extension, received } = recorder()
  const server = createServer({ ...about, state: false, extensions: [extension] })
  const call = createCall({ principal: { subject: 'ada' } })
  server.receive({ jsonrpc: '2.0', method: 'com.example/moved' }, call)
  server.receive({ jsonrpc: '2.0', method: 'com.example/other' }, call)
  expect(received).toEqual([{ notification: { jsonrpc: '2.0', method: 'com.example/moved' }, call }])
})

test('the last of two hosts closes the server, however often each is closed', async () => {
  const { extension, close } = recorder()
  const server = createServer({ ...about, extensions: [extension] })
  const [first, second] = [await serveHttp(server), await serveHttp(server)]
  await Promise.all([first.close({ graceMs: 10 }), first.close({ graceMs: 10 })])
  expect(close).not.toHaveBeenCalled()
  await using connection = connectHttp(second.url)
  const client = createClient(connection, about)
  expect((await client.discover()).supportedVersions).toContain('2026-07-28')
  await second.close({ graceMs: 10 })
  expect(close).toHaveBeenCalledExactlyOnceWith({ graceMs: 10 })
})

test('a host that could not listen does not keep the server open', async () => {
  const { extension, close } = recorder()
  const server = createServer({ ...about, extensions: [extension] })
  const http = await serveHttp(server)
  await expect(serveHttp(server, { port: http.port })).rejects.toThrow('in use')
  await http.close()
  expect(close).toHaveBeenCalledOnce()
})

test('`await using` closes connections and servers', async () => {
  const { extension, close } = recorder()
  let closed: AbortSignal
  {
    await using server = createServer({ ...about, extensions: [extension] })
    const http = await serveHttp(server)
    {
      await using connection = connectHttp(http.url)
      closed = connection.closed
      expect(closed.aborted).toBe(false)
    }
    expect(closed.aborted).toBe(true)
    await http.close()
  }
  expect(close).toHaveBeenCalledOnce()
})

describe('a proxy that serves the exchange of a connection', () => {
  const greet = tool('greet', {
    description: 'Greets',
    input: z.object({ name: z.string(), region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
    run: ({ name, region }, ctx) => {
      ctx.progress(1, 1)
      return `Hello, ${name} of ${region}!`
    },
  })

  test('passes on calls, their names and arguments in headers, their progress and their errors', async () => {
    const server = createServer({ ...about, state: false, tools: [greet] })
    await using origin = await serveHttp(server)
    await using upstream = connectHttp(origin.url)
    const seen = vi.fn<Exchange>(upstream.exchange)
    await using proxy = await serveHttp(serverOf(seen, { info: server.info, localOnly: undefined }))
    await using connection = connectHttp(proxy.url)
    const client = createClient(connection, about)
    const progress: number[] = []
    const onProgress = ({ progress: value }: { readonly progress: number }) => void progress.push(value)
    await client.listTools()
    const { content } = await client.callTool('greet', { name: 'Ada', region: 'Zürich' }, { onProgress })
    expect(content).toMatchObject([{ text: 'Hello, Ada of Zürich!' }])
    expect(progress).toEqual([1])
    await expect(client.callTool('none', {})).rejects.toThrow('none')
    expect(seen).toHaveBeenCalled()
  })
})
