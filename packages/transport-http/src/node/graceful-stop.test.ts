import { expect, test } from 'vitest'
import { createProgressNotification, pendingCalls, testServer } from '../testing/exchanges.ts'
import { connectRaw, requestOf } from '../testing/raw.ts'
import { serveHttp } from './serve-http.ts'

test('a call that is sent again over an open connection after the last answer of a stop is rejected, not cut off [UNA-005]', async () => {
  const { exchange, next } = pendingCalls()
  const http = await serveHttp(testServer(exchange))
  const idle = connectRaw(http.port)
  idle.send(requestOf('tools/list', 1))
  const first = await next()
  first.answer()
  await idle.readUntil('"id":1')
  const busy = connectRaw(http.port)
  busy.send(requestOf('tools/list', 2))
  const last = await next()
  const closing = http.close()
  last.answer()
  await busy.waitForClose()
  idle.send(requestOf('tools/list', 3))
  const rejection = await idle.waitForClose()
  expect(rejection).toContain('"reason":"stopping","retryAfterMs":0')
  expect(rejection.slice(rejection.lastIndexOf('HTTP/1.1 503'))).toMatch(/^connection: close\r$/im)
  await closing
})

test('a call over the connection of a streamed answer, right after its end, is rejected, not cut off [UNA-005]', async () => {
  const { exchange, next } = pendingCalls()
  const http = await serveHttp(testServer(exchange))
  const streaming = connectRaw(http.port)
  streaming.send(requestOf('tools/list', 1))
  const pending = await next()
  pending.call.notify(createProgressNotification(1))
  await streaming.readUntil('"progress":1')
  const closing = http.close()
  pending.answer()
  await streaming.readUntil('\r\n0\r\n\r\n')
  streaming.send(requestOf('tools/list', 2))
  expect(await streaming.waitForClose()).toContain('"reason":"stopping"')
  await closing
})

test('a request that arrives in the moment of a stop is rejected, not cut off, over an open connection and over a new one [UNA-005]', async () => {
  const { exchange, next } = pendingCalls()
  const http = await serveHttp(testServer(exchange))
  const idle = connectRaw(http.port)
  idle.send(requestOf('tools/list', 1))
  ;(await next()).answer()
  await idle.readUntil('"id":1')
  // The system has both, and the server has read neither.
  idle.send(requestOf('tools/list', 2))
  const fresh = connectRaw(http.port)
  fresh.send(requestOf('tools/list', 3))
  const closing = http.close()
  for (const connection of [idle, fresh]) expect(await connection.waitForClose()).toContain('"reason":"stopping"')
  await closing
})

test('a stop does not wait for a connection that has sent nothing, nor for half of a request', async () => {
  const http = await serveHttp(testServer(pendingCalls().exchange))
  const connections = ['', 'POST /mcp HTTP/1.1\r\nhost: localhost\r\n'].map((text) => {
    const connection = connectRaw(http.port)
    connection.send(text)
    return connection
  })
  const used = connectRaw(http.port)
  used.send('GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n')
  // The server has accepted all three by then.
  await used.readUntil('HTTP/1.1 ')
  await http.close({ graceMs: 3_600_000 })
  for (const connection of [...connections, used]) await connection.waitForClose()
})
