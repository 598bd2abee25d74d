import { errorCodes } from '@x/schema'
import { expect, test, vi } from 'vitest'
import { echo, pendingCalls, testServer } from '../testing/exchanges.ts'
import { bodyOf, connectRaw, headOf, requestOf } from '../testing/raw.ts'
import { serveHttp } from './serve-http.ts'

const maxBodyBytes = 1_000

test('a body without a length is cut off at the bound while it comes, and answered with JSON', async () => {
  const exchange = vi.fn(echo)
  await using http = await serveHttp(testServer(exchange), { maxBodyBytes })
  const raw = connectRaw(http.port)
  raw.send(headOf('tools/list', ['Transfer-Encoding: chunked']))
  for (let part = 0; part < 3; part += 1) raw.send(`190\r\n${'x'.repeat(400)}\r\n`)
  const answer = await raw.readUntil('}}')
  expect(answer).toMatch(/^HTTP\/1.1 413 /)
  expect(answer).toContain('Content-Type: application/json')
  expect(answer).toContain('"The body is longer than 1000 bytes"')
  raw.send('0\r\n\r\n')
  raw.send(requestOf('tools/list', 2))
  expect(await raw.readUntil('"id":2')).toContain('HTTP/1.1 200 OK')
  raw.socket.destroy()
  expect(exchange).toHaveBeenCalledOnce()
})

test('a peer that continues to send after the rejection loses its connection', async () => {
  await using http = await serveHttp(testServer(echo), { maxBodyBytes })
  const raw = connectRaw(http.port)
  raw.send(headOf('tools/list', ['Transfer-Encoding: chunked']))
  const part = `10000\r\n${'x'.repeat(65_536)}\r\n`
  const pump = () => {
    if (!raw.socket.destroyed) raw.socket.write(part, pump)
  }
  pump()
  expect(await raw.waitForClose()).toMatch(/^HTTP\/1.1 413 /)
})

test('a length past the bound is refused before the body comes', async () => {
  await using http = await serveHttp(testServer(echo), { maxBodyBytes })
  const raw = connectRaw(http.port)
  raw.send(headOf('tools/list', ['Content-Length: 1001']))
  expect(await raw.readUntil('}}')).toMatch(/^HTTP\/1.1 413 [^]*"code":-32700/)
  raw.socket.destroy()
})

test('a length that is less than the body ends the request there', async () => {
  const exchange = vi.fn(echo)
  await using http = await serveHttp(testServer(exchange))
  const raw = connectRaw(http.port)
  raw.send(headOf('tools/list', ['Content-Length: 10']) + bodyOf('tools/list', 1))
  expect(await raw.waitForClose()).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/)
  expect(exchange).not.toHaveBeenCalled()
})

test('a length that is more than the body waits, and ends with the connection', async () => {
  const exchange = vi.fn(echo)
  await using http = await serveHttp(testServer(exchange))
  const raw = connectRaw(http.port)
  const body = bodyOf('tools/list', 1)
  raw.send(headOf('tools/list', [`Content-Length: ${body.length + 1}`]) + body)
  raw.socket.end()
  await raw.waitForClose()
  expect(exchange).not.toHaveBeenCalled()
})

test('a body in chunks of one byte is read whole, characters of several bytes too', async () => {
  const { exchange, next } = pendingCalls()
  await using http = await serveHttp(testServer(exchange))
  const raw = connectRaw(http.port)
  raw.send(headOf('tools/list', ['Transfer-Encoding: chunked']))
  const text = `${'é€😀'.repeat(20_000)}`
  const bytes = Buffer.from(bodyOf('tools/list', 1, `"text":"${text}",`))
  const parts = Array.from(bytes, (byte) => Buffer.from([0x31, 0x0d, 0x0a, byte, 0x0d, 0x0a]))
  raw.send(Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]))
  const { request, answer } = await next()
  expect(request.params?.text).toBe(text)
  answer()
  await raw.readUntil('"result"')
  raw.socket.destroy()
})

test('line breaks in a header value do not get as far as a header of the answer', async () => {
  const exchange = vi.fn(echo)
  await using http = await serveHttp(testServer(exchange), { allowedOrigins: ['http://localhost'] })
  const raw = connectRaw(http.port)
  raw.send(headOf('tools/list\r\nOrigin: http://localhost\nX-Evil: 1', ['Content-Length: 0']))
  expect(await raw.waitForClose()).not.toMatch(/X-Evil/i)
  expect(exchange).not.toHaveBeenCalled()
})

test('headers that come twice are not the value that the body says', async () => {
  await using http = await serveHttp(testServer(echo))
  const raw = connectRaw(http.port)
  const body = bodyOf('tools/list', 1)
  raw.send(headOf('tools/list', ['Mcp-Method: tools/list', `Content-Length: ${body.length}`]) + body)
  expect(await raw.readUntil('}}')).toContain(String(errorCodes.headerMismatch))
  raw.socket.destroy()
})
