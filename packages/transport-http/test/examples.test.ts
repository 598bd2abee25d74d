import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Exchange, Server } from '@x/exchange'
import { describe, expect, test, vi } from 'vitest'
import * as inExpress from '../examples/express.ts'
import * as inFastify from '../examples/fastify.ts'
import * as inHono from '../examples/hono.ts'
import {
  waitForAbort,
  pendingCalls,
  createProgressNotification,
  resultOf,
  testServer,
} from '../src/testing/exchanges.ts'
import { bodyOf, connectRaw, headOf, requestOf } from '../src/testing/raw.ts'

type Mount = (server: Server) => Promise<RequestListener>

const mounts: readonly [string, Mount][] = [
  ['Express', async (server) => inExpress.createApp(server)],
  ['Express behind a body parser', async (server) => inExpress.createAppWithParser(server)],
  [
    'Fastify',
    async (server) => {
      const app = inFastify.createApp(server)
      await app.ready()
      return app.routing
    },
  ],
  [
    'Hono',
    async (server) => {
      const listener = getRequestListener(inHono.createApp(server).fetch)
      return (request, response) => void listener(request, response)
    },
  ],
]

async function listenOn(listener: RequestListener): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const cursor: Exchange = async (request) => resultOf(request, { cursor: request.params?.cursor })

describe.each(mounts)('mounted in %s', (_, mount) => {
  test('a call is answered', async () => {
    await using app = await listenOn(await mount(testServer(cursor)))
    const raw = connectRaw(app.port)
    const body = bodyOf('tools/list', 1, '"cursor":"é",')
    raw.send(headOf('tools/list', [`Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close']) + body)
    const answer = await raw.waitForClose()
    expect(answer).toMatch(/^HTTP\/1.1 200 OK/)
    expect(answer).toContain('{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","cursor":"é"}}')
  })

  test('a call may stream, and a client that leaves cancels it [SHT-024 CAN-004]', async () => {
    const { exchange, next } = pendingCalls()
    await using app = await listenOn(await mount(testServer(exchange)))
    const raw = connectRaw(app.port)
    raw.send(requestOf('tools/list', 1))
    const { call } = await next()
    call.notify(createProgressNotification(1))
    expect(await raw.readUntil('data: ')).toMatch(/text\/event-stream/i)
    raw.socket.destroy()
    expect(await waitForAbort(call.signal)).toMatchObject({ name: 'AbortError' })
  })

  test('a foreign Host and another verb are refused with JSON [SHT-002 SHT-081]', async () => {
    await using app = await listenOn(await mount(testServer(cursor)))
    const raw = connectRaw(app.port)
    raw.send('GET /mcp HTTP/1.1\r\nHost: evil.test\r\n\r\n')
    expect(await raw.readUntil('}}')).toMatch(/^HTTP\/1.1 403 [^]*application\/json/i)
    raw.send('DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    expect(await raw.waitForClose()).toMatch(/HTTP\/1.1 405 [^]*-32022/)
  })

  test('a form of a foreign page is refused', async () => {
    await using app = await listenOn(await mount(testServer(cursor)))
    const raw = connectRaw(app.port)
    const body = bodyOf('tools/list', 1)
    const head = headOf('tools/list', [`Content-Length: ${body.length}`, 'Connection: close'])
    raw.send(head.replace('application/json', 'text/plain') + body)
    expect(await raw.waitForClose()).toMatch(/^HTTP\/1.1 415 /)
  })
})

test('a body past the bound is refused with JSON where a parser let it through', async () => {
  await using app = await listenOn(inExpress.createAppWithParser(testServer(cursor)))
  const raw = connectRaw(app.port)
  const body = bodyOf('tools/list', 1, `"a":[${'0,'.repeat(150_000)}0],`)
  raw.send(headOf('tools/list', [`Content-Length: ${body.length}`, 'Connection: close']) + body)
  expect(await raw.waitForClose()).toMatch(/^HTTP\/1.1 400 [^]*-32700/)
})

test('the program of the README greets over HTTP', async () => {
  const log = vi.spyOn(console, 'log').mockReturnValue()
  await import('../examples/quick-start.ts')
  expect(log.mock.calls).toEqual([
    [expect.stringMatching(/^http:\/\/127.0.0.1:\d+\/mcp$/), [{ type: 'text', text: 'Hello, Ada!' }]],
  ])
  log.mockRestore()
})
