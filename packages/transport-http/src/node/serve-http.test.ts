import { createServer } from 'node:http'
import type { Exchange } from '@x/exchange'
import type { RpcNotification } from '@x/schema'
import { createServer as createMcpServer, sealedState } from '@x/server'
import { expect, test, vi } from 'vitest'
import {
  waitForAbort,
  echo,
  pendingCalls,
  createProgressNotification,
  resultOf,
  testServer,
} from '../testing/exchanges.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { connectRaw, requestOf } from '../testing/raw.ts'
import { createPostRequest } from '../testing/sent.ts'
import { serveHttp, startHttpServer } from './serve-http.ts'

async function send(url: string, sent = createPostRequest('tools/list')): Promise<[number, string]> {
  const { host: _, ...headers } = sent.headers
  const response = await fetch(url, { method: sent.method, headers, body: String(sent.body) })
  return [response.status, await response.text()]
}

test('a server listens on the loopback address at /mcp by default [SHT-001 SHT-005]', async () => {
  await using http = await serveHttp(testServer(echo))
  expect(http.url).toBe(`http://127.0.0.1:${http.port}/mcp`)
  expect(await send(http.url)).toEqual([200, expect.stringContaining('"tools/list"')])
  expect((await send(`${http.url}?tenant=1`))[0]).toBe(200)
})

test('another path is answered with 404 and JSON', async () => {
  await using http = await serveHttp(testServer(echo), { path: '/api/mcp' })
  const [status, body] = await send(`http://127.0.0.1:${http.port}/mcp`)
  expect([status, JSON.parse(body).error.message]).toEqual([404, 'There is nothing here: the endpoint is /api/mcp'])
  expect((await send(http.url))[0]).toBe(200)
})

test.each([['localhost'], ['::1'], ['127.0.0.2']])(
  'the host %s is this machine and serves its own name [SHT-004]',
  async (host) => {
    await using http = await serveHttp(testServer(echo), { host })
    expect((await send(http.url))[0]).toBe(200)
  },
)

test('an address that others can reach needs a list of hosts [SHT-005]', async () => {
  await expect(serveHttp(testServer(echo), { host: '0.0.0.0' })).rejects.toThrow('allowedHosts')
  await using http = await serveHttp(testServer(echo), { host: '0.0.0.0', allowedHosts: ['127.0.0.1'] })
  expect((await send(`http://127.0.0.1:${http.port}/mcp`))[0]).toBe(200)
  expect((await send(`http://localhost:${http.port}/mcp`))[0]).toBe(403)
})

const localOnly = 'it was made without keys: give it some'

test.each([['0.0.0.0'], ['::'], ['192.0.2.1'], ['mcp.example.com']])(
  'an exchange that is for this machine alone is rejected on %s with its reason, for every allowedHosts',
  async (host) => {
    const serving = serveHttp(testServer(echo, { localOnly }), { host, allowedHosts: '*' })
    await expect(serving).rejects.toThrow(TypeError)
    await expect(serving).rejects.toThrow(`host "${host}" can be reached from other machines, but ${localOnly}`)
  },
)

test.each([
  [{ host: '127.0.0.1' }],
  [{ host: 'localhost' }],
  [{ host: '::1' }],
  [{ host: '127.0.0.2' }],
  [{ allowedHosts: ['127.0.0.1', 'crm.localhost', '[::1]:3000'] }],
])('an exchange that is for this machine alone is served with %j', async (options) => {
  await using http = await serveHttp(testServer(echo, { localOnly }), options)
  expect((await send(http.url))[0]).toBe(200)
})

const keys = ['9d2f61c07ab84e3350c6f1e8b7a4d20913f58c6e4b7a02d1e96c85f3047bad1e']

test.each([
  ['without a key, beyond this machine', undefined, { host: '0.0.0.0', allowedHosts: ['127.0.0.1'] }, 1],
  ['without a key, by a public name', undefined, { host: '0.0.0.0', allowedHosts: ['mcp.example.com'] }, 1],
  ['without a key, behind a proxy on this machine', undefined, { allowedHosts: ['mcp.example.com'] }, 1],
  ['without a key, on this machine', undefined, {}, 0],
  ['that never asks', false as const, { host: '0.0.0.0', allowedHosts: '*' as const }, 0],
  ['with a key', sealedState({ keys }), { host: '0.0.0.0', allowedHosts: '*' as const }, 0],
])('a server %s starts, and warns of its random key where another instance could miss it', async (...row) => {
  const [, state, options, count] = row
  const log = vi.fn()
  await using http = await serveHttp(createMcpServer({ name: 'demo', version: '1', state, log }), options)
  expect(http.port).toBeGreaterThan(0)
  const message = expect.stringMatching(/while this one process lives.*state: sealedState\(/s)
  expect(log.mock.calls).toEqual(Array.from({ length: count }, () => [{ level: 'warn', code: 'random_key', message }]))
})

test('a port that is in use is an error that says what to do', async () => {
  await using http = await serveHttp(testServer(echo))
  const second = serveHttp(testServer(echo), { port: http.port })
  await expect(second).rejects.toThrow(
    `127.0.0.1:${http.port} is in use: stop what listens there, or give another port`,
  )
  await expect(second).rejects.toHaveProperty('cause.code', 'EADDRINUSE')
  // Node prints it after three lines, and nothing but the cause behind it.
  await expect(second).rejects.toHaveProperty('stack', expect.not.stringContaining('\n'))
})

test('an address that is not of this machine is an error that names it', async () => {
  const serving = serveHttp(testServer(echo), { host: '192.0.2.1', allowedHosts: '*' })
  await expect(serving).rejects.toThrow('192.0.2.1:0 cannot be bound')
})

test('a server that stops lets running calls finish, refuses new ones and closes idle connections', async () => {
  const { exchange, next } = pendingCalls()
  const http = await serveHttp(testServer(exchange))
  const idle = connectRaw(http.port)
  idle.send(requestOf('tools/list', 1))
  const first = await next()
  first.answer()
  await idle.readUntil('"id":1')
  const busy = connectRaw(http.port)
  busy.send(requestOf('tools/list', 2))
  const second = await next()

  const closing = http.close()
  idle.send(requestOf('tools/list', 3))
  const refused = await idle.waitForClose()
  expect(refused).toMatch(
    /HTTP\/1.1 503 [^]*Retry-After: 1[^]*Connection: close[^]*The server is stopping[^]*"reason":"stopping","retryAfterMs":0/,
  )
  await expect(fetch(http.url)).rejects.toThrow('fetch failed')
  expect(second.call.signal.aborted).toBe(false)
  second.answer({ last: true })
  expect(await busy.waitForClose()).toMatch(/HTTP\/1.1 200 OK[^]*Connection: close[^]*"last":true/)
  await closing
})

test('a connection that is idle does not hold the stop up', async () => {
  const http = await serveHttp(testServer(echo))
  const raw = connectRaw(http.port)
  raw.send(requestOf('tools/list', 1))
  await raw.readUntil('"result"')
  await http.close()
  expect(await raw.waitForClose()).toMatch(
    /^HTTP\/1.1 200 OK\r\nContent-Type: application\/json\r\nContent-Length: 81\r\n/,
  )
})

test('a call that outlives the grace is aborted and answered', async () => {
  const { exchange, next } = pendingCalls()
  const clock = createManualClock()
  const http = await startHttpServer(testServer(exchange), { keepAliveMs: 0, timeoutMs: 0 }, clock)
  const sending = send(http.url)
  const { call } = await next()
  const closing = http.close({ graceMs: 5_000 })
  clock.advance(4_999)
  expect(call.signal.aborted).toBe(false)
  clock.advance(1)
  expect(call.signal.reason).toMatchObject({ message: 'The server is stopping' })
  expect(await sending).toEqual([503, expect.stringContaining('"reason":"stopping","retryAfterMs":0,"begun":true')])
  await closing
  expect(clock.countTimers()).toBe(0)
})

test('a reader that takes nothing cannot hold the stop up', async () => {
  const { exchange, next } = pendingCalls()
  const clock = createManualClock()
  const http = await startHttpServer(testServer(exchange), { keepAliveMs: 0, timeoutMs: 0 }, clock)
  const raw = connectRaw(http.port)
  raw.socket.pause()
  raw.send(requestOf('tools/list', 1))
  const { answer } = await next()
  answer({ text: 'x'.repeat(50_000_000) })
  const closing = http.close({ graceMs: 10 })
  clock.advance(1_010)
  await closing
  raw.socket.resume()
  expect((await raw.waitForClose()).length).toBeLessThan(50_000_000)
})

test('an answer that is still on its way to a slow reader is not cut short by a stop', async () => {
  const { exchange, next } = pendingCalls()
  const http = await serveHttp(testServer(exchange))
  const raw = connectRaw(http.port)
  raw.socket.pause()
  raw.send(requestOf('tools/list', 1))
  const { answer } = await next()
  answer({ text: 'x'.repeat(20_000_000) })
  await Promise.resolve()
  const closing = http.close()
  raw.socket.resume()
  expect((await raw.waitForClose()).endsWith('xxx"}}')).toBe(true)
  await closing
})

test('a stream of changes is asked to end as soon as the stop begins, and its response still goes out', async () => {
  const acknowledged: RpcNotification = { jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged' }
  const listening: Exchange = async (request, call) => {
    call.notify(acknowledged)
    await waitForAbort(call.signal)
    if (request.id === 2) throw call.signal.reason
    return resultOf(request, { ended: true })
  }
  const http = await serveHttp(testServer(listening))
  const raw = connectRaw(http.port)
  const rejecting = connectRaw(http.port)
  raw.send(requestOf('subscriptions/listen', 1))
  rejecting.send(requestOf('subscriptions/listen', 2))
  await Promise.all([raw, rejecting].map((each) => each.readUntil('acknowledged')))
  await http.close()
  expect(await rejecting.waitForClose()).toContain('"message":"The server is stopping')
  const received = await raw.waitForClose()
  expect(received).toContain('data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ended":true}}\n\n')
  expect(received.endsWith('0\r\n\r\n')).toBe(true)
})

test('closing twice is closing once, and `await using` closes', async () => {
  let url = ''
  {
    await using http = await serveHttp(testServer(echo))
    url = http.url
    expect(http.close()).toBe(http.close())
  }
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

test('a socket that does not read loses progress beyond the bound, and the memory of the server is bounded', async () => {
  let sent = 0
  const message = 'x'.repeat(100_000)
  const { exchange, next } = pendingCalls()
  await using http = await startHttpServer(testServer(exchange), {}, { maxQueuedBytes: 1_000_000 })
  const raw = connectRaw(http.port)
  raw.socket.pause()
  raw.send(requestOf('tools/list', 1))
  const { call, answer } = await next()
  // Each turn of the loop lets the socket take what the kernel has room for.
  for (; sent < 300; sent += 1) {
    call.notify(createProgressNotification(sent, message))
    await new Promise((resolve) => setImmediate(resolve))
  }
  answer()
  raw.socket.resume()
  const received = await raw.readUntil('"result"')
  expect(received.length).toBeLessThan(sent * message.length)
  expect(received).toContain('"progress":0')
  raw.socket.destroy()
})

test('a client that leaves while it sends its body is not logged as an error', async () => {
  const log = vi.fn()
  await using http = await serveHttp(testServer(echo, { log }))
  const raw = connectRaw(http.port)
  raw.send(requestOf('tools/list', 1).slice(0, -20))
  await new Promise((resolve) => setImmediate(resolve))
  raw.socket.destroy()
  await raw.waitForClose()
  expect((await send(http.url))[0]).toBe(200)
  expect(log).not.toHaveBeenCalled()
})

test('a node:http server of another maker may use the handler with a body that was read before', async () => {
  const { nodeHandler } = await import('./node-handler.ts')
  const bodies = [{ parsed: true }, '{"jsonrpc":', Buffer.from([0xff]), undefined]
  const handle = nodeHandler(testServer(echo))
  const server = createServer((request, response) => {
    request.resume().on('end', () => handle(Object.assign(request, { body: bodies.shift() }), response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/mcp`
  const answers = []
  while (bodies.length > 0) answers.push(await send(url))
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  expect(answers).toEqual([
    [400, expect.stringContaining('-32600')],
    [400, expect.stringContaining('-32700')],
    [400, expect.stringContaining('not valid UTF-8')],
    [500, expect.stringContaining('mount it ahead of body parsers')],
  ])
})

test('two Host headers are answered with 400, and the operator sees both [SHT-002]', async () => {
  const log = vi.fn()
  await using http = await serveHttp(testServer(echo, { log }))
  const raw = connectRaw(http.port)
  raw.send(requestOf('tools/list', 1).replace('\r\n', '\r\nHost: evil.test\r\nConnection: close\r\n'))
  const text = await raw.waitForClose()
  expect(text).toContain('HTTP/1.1 400')
  expect(text).not.toContain('"result"')
  expect(log.mock.calls[0]?.[0].message).toContain('"evil.test, localhost"')
})

test('a request line without a version is rejected with 400, and its connection closes', async () => {
  const exchange = vi.fn(echo)
  await using http = await serveHttp(testServer(exchange))
  for (const path of ['/mcp', '/healthz']) {
    const raw = connectRaw(http.port)
    raw.send(`GET ${path}\r\nHost: localhost\r\n\r\n`)
    expect(await raw.waitForClose()).toMatch(/400 Bad Request[^]*The request line has no HTTP version/)
  }
  expect(exchange).not.toHaveBeenCalled()
})

test('auth receives the ledger of the server, and its reports reach the log', async () => {
  const log = vi.fn()
  const server = testServer(echo, { log })
  const failure = new Error('The issuer is unreachable')
  const auth = vi.fn((_request: unknown, context: { readonly report: (error: unknown) => void }) => {
    context.report(failure)
    return undefined
  })
  await using http = await serveHttp(server, { auth })
  expect((await send(http.url))[0]).toBe(200)
  expect(auth.mock.calls[0]?.[1]).toMatchObject({ ledger: server.ledger })
  expect(log.mock.calls[0]?.[0].err).toBe(failure)
})
