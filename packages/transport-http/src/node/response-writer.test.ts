import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { waitForAbort, pendingCalls, testServer } from '../testing/exchanges.ts'
import { connectRaw, requestOf } from '../testing/raw.ts'
import { maxPipelinedRequests, OpenResponses } from './response-writer.ts'
import { serveHttp } from './serve-http.ts'

test('a finished answer that its client does not read is not held for ever', async () => {
  const open = new OpenResponses(50)
  let ended = (): void => {}
  const end = new Promise<void>((resolve) => {
    ended = resolve
  })
  const server = createServer((_request, response) => {
    open.add(response)
    response.on('close', ended)
    response.end('x'.repeat(20_000_000))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const raw = connectRaw(typeof address === 'object' && address !== null ? address.port : 0)
  raw.socket.pause()
  raw.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await end
  expect(open.entries).toEqual([])
  raw.socket.resume()
  expect((await raw.waitForClose()).length).toBeLessThan(20_000_000)
  open.stop()
  server.close()
})

test('requests beyond the limit of one connection are answered with 503, and other connections are served', async () => {
  const { exchange, next } = pendingCalls()
  await using http = await serveHttp(testServer(exchange))
  const raw = connectRaw(http.port)
  const ids = Array.from({ length: maxPipelinedRequests + 1 }, (_, index) => index + 1)
  raw.send(ids.map((id) => requestOf('tools/list', id)).join(''))
  const calls = []
  for (const _ of ids.slice(1)) calls.push(await next())
  const other = connectRaw(http.port)
  other.send(requestOf('tools/list', 99))
  ;(await next()).answer()
  expect(await other.readUntil('"id":99')).toContain('HTTP/1.1 200')
  for (const { answer } of calls) answer()
  const text = await raw.waitForClose()
  expect(text.match(/HTTP\/1\.1 (\d+)/g)).toEqual([...calls.map(() => 'HTTP/1.1 200'), 'HTTP/1.1 503'])
  expect(text).toContain('Too many requests at once on one connection')
  other.socket.destroy()
})

test('requests that wait on a connection end when it closes, and their memory is freed', async () => {
  const { exchange, next } = pendingCalls()
  await using http = await serveHttp(testServer(exchange))
  const raw = connectRaw(http.port)
  raw.send([1, 2, 3].map((id) => requestOf('tools/list', id)).join(''))
  const calls = [await next(), await next(), await next()]
  raw.socket.destroy()
  const reasons = await Promise.all(calls.map(({ call }) => waitForAbort(call.signal)))
  expect(reasons).toHaveLength(3)
})
