import { createLedger, type Ledger } from '@x/core'
import type { Exchange } from '@x/exchange'
import { connect } from 'node:net'
import { expect, test, vi } from 'vitest'
import { httpHandler } from '../index.ts'
import { echo, resultOf, testServer } from '../testing/exchanges.ts'
import { connectRaw, headOf, requestOf } from '../testing/raw.ts'
import { serveHttp } from './serve-http.ts'

/** Sends a head that announces a body, and the beginning of that body. */
function sendPartOfBody(port: number, announcedBytes: number, sentBytes: number) {
  const raw = connectRaw(port)
  raw.send(headOf('tools/list', [`Content-Length: ${announcedBytes}`]) + 'x'.repeat(sentBytes))
  return raw
}

/** Creates a ledger with bounds of one kind. */
function ledgerWith(kind: 'arriving_bytes' | 'unread_bytes', perCaller: number, total: number): Ledger {
  return createLedger({}, { [kind]: { perCaller, total } })
}

test('bodies that arrive have one bound for their caller, and give their bytes back when the connection closes [LDG-003 LDG-007]', async () => {
  const ledger = ledgerWith('arriving_bytes', 100_000, 1_000_000)
  await using http = await serveHttp(testServer(echo, { ledger }))
  const first = sendPartOfBody(http.port, 90_000, 60_000)
  await expect.poll(() => ledger.usedInAll('arriving_bytes')).toBeGreaterThanOrEqual(60_000)
  const second = sendPartOfBody(http.port, 90_000, 60_000)
  const answer = await second.readUntil('}}')
  expect(answer).toMatch(/^HTTP\/1.1 429 [^]*Retry-After: 1/)
  expect(answer).toContain('"data":{"reason":"quota","limit":"arriving_bytes","max":100000,"retryAfterMs":1000}')
  first.socket.destroy()
  second.socket.destroy()
  await expect.poll(() => ledger.usedInAll('arriving_bytes')).toBe(0)
})

test('bodies that arrive have one bound for all callers [LDG-004]', async () => {
  const ledger = ledgerWith('arriving_bytes', 1_000_000, 100_000)
  await using http = await serveHttp(testServer(echo, { ledger }))
  const first = sendPartOfBody(http.port, 90_000, 60_000)
  await expect.poll(() => ledger.usedInAll('arriving_bytes')).toBeGreaterThanOrEqual(60_000)
  const second = sendPartOfBody(http.port, 90_000, 60_000)
  expect(await second.readUntil('}}')).toMatch(/^HTTP\/1.1 503 [^]*Retry-After: 1[^]*"reason":"overloaded"/)
  for (const { socket } of [first, second]) socket.destroy()
})

test('a caller that fills its share of arriving bytes takes nothing from a caller of another address [LDG-006]', async () => {
  const exchange = vi.fn(echo)
  const server = testServer(exchange)
  await using http = await serveHttp(server)
  const megabyte = 1_048_576
  const greedy = Array.from({ length: 40 }, () => sendPartOfBody(http.port, 4 * megabyte, megabyte))
  await Promise.any(greedy.map((raw) => raw.readUntil(' 429 ')))
  const { perCaller } = server.ledger.boundOf('arriving_bytes')
  expect(server.ledger.usedInAll('arriving_bytes')).toBeLessThanOrEqual(perCaller)
  const honest = connect({ port: http.port, host: '127.0.0.1', localAddress: '127.0.0.2' })
  honest.write(requestOf('tools/list', 1))
  const [answer] = await new Promise<Buffer[]>((resolve) => honest.once('data', (bytes: Buffer) => resolve([bytes])))
  expect(String(answer)).toMatch(/^HTTP\/1.1 200 OK/)
  for (const socket of [honest, ...greedy.map((raw) => raw.socket)]) socket.destroy()
  await expect.poll(() => server.ledger.usedInAll('arriving_bytes')).toBe(0)
})

test('a body that was parsed counts no more while its call runs', async () => {
  const ledger = ledgerWith('arriving_bytes', 100_000, 100_000)
  let usedInCall: number | undefined
  const exchange: Exchange = async (request) => {
    await new Promise((resolve) => setImmediate(resolve))
    usedInCall = ledger.usedInAll('arriving_bytes')
    return resultOf(request)
  }
  await using http = await serveHttp(testServer(exchange, { ledger }))
  const raw = connectRaw(http.port)
  const [head = '', body = ''] = requestOf('tools/list', 1).split(/(?<=\r\n\r\n)/)
  raw.send(head + body.slice(0, 10))
  await expect.poll(() => ledger.usedInAll('arriving_bytes')).toBe(10)
  raw.send(body.slice(10))
  expect(await raw.readUntil('"result"')).toContain('200 OK')
  expect(usedInCall).toBe(0)
  raw.socket.destroy()
})

test('bodies of web requests have the same bounds', async () => {
  const ledger = ledgerWith('arriving_bytes', 100_000, 1_000_000)
  const handle = httpHandler(testServer(echo, { ledger }))
  const send = (cancel: AbortSignal): Promise<Response> => {
    const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      controller.enqueue(new Uint8Array(60_000).fill(120))
      cancel.addEventListener('abort', () => controller.error(new Error('The client disconnected')))
    }
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const body = new ReadableStream({ start })
    return handle(new Request('http://localhost/mcp', { method: 'POST', headers, body, duplex: 'half' } as RequestInit))
  }
  const disconnect = new AbortController()
  const first = send(disconnect.signal)
  await expect.poll(() => ledger.usedInAll('arriving_bytes')).toBe(60_000)
  const second = await send(disconnect.signal)
  expect([second.status, await second.json()]).toMatchObject([429, { error: { data: { limit: 'arriving_bytes' } } }])
  disconnect.abort()
  await first
  expect(ledger.usedInAll('arriving_bytes')).toBe(0)
})

test('finished answers that their caller does not read have one bound, beyond which the connection closes [LDG-007]', async () => {
  const megabyte = 1_048_576
  const ledger = ledgerWith('unread_bytes', 20 * megabyte, 500 * megabyte)
  const text = 'x'.repeat(8 * megabyte)
  const log = vi.fn()
  const exchange: Exchange = async (request) => resultOf(request, { text })
  await using http = await serveHttp(testServer(exchange, { ledger, log }))
  const connections = Array.from({ length: 6 }, (_, id) => {
    const raw = connectRaw(http.port)
    raw.socket.pause()
    raw.send(requestOf('tools/list', id))
    return raw
  })
  await expect.poll(() => log).toHaveBeenCalled()
  expect(log.mock.calls[0]?.[0].message).toContain('its caller has 20971520 bytes of unread answers')
  await expect.poll(() => ledger.usedInAll('unread_bytes')).toBeGreaterThan(4 * megabyte)
  expect(ledger.usedInAll('unread_bytes')).toBeLessThanOrEqual(20 * megabyte)
  for (const { socket } of connections) socket.destroy()
  await expect.poll(() => ledger.usedInAll('unread_bytes')).toBe(0)
})

test('a large answer that is read counts until it is read, and arrives whole', async () => {
  const ledger = ledgerWith('unread_bytes', 8_000_000, 8_000_000)
  const exchange: Exchange = async (request) => resultOf(request, { text: 'x'.repeat(5_000_000) })
  await using http = await serveHttp(testServer(exchange, { ledger }))
  for (const id of [1, 2, 3]) {
    const raw = connectRaw(http.port)
    raw.send(requestOf('tools/list', id))
    expect(await raw.readUntil(`"id":${id}`)).toContain('200 OK')
    raw.socket.destroy()
  }
  await expect.poll(() => ledger.usedInAll('unread_bytes')).toBe(0)
})
