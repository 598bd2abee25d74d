import { errorCodes } from '@x/schema'
import { describe, expect, test, vi } from 'vitest'
import { echo } from '../testing/exchanges.ts'
import { createPostRequest } from '../testing/sent.ts'
import { serveFunctions } from '../testing/shells.ts'
import type { HandlerOptions } from './handler-settings.ts'

type Options = HandlerOptions<unknown>
const list = (headers: Readonly<Record<string, string | null>>) => createPostRequest('tools/list', {}, { headers })
const example: Options = { allowedHosts: ['Example.com', 'api.example.com:8443'] }
const pages: Options = { ...example, allowedOrigins: ['https://app.example.org', 'vscode-webview://abc'] }

describe.each(serveFunctions)('%s', (_, serve) => {
  test.each<[string, string, Options?]>([
    ['localhost', 'localhost'],
    ['localhost with a port', 'localhost:3000'],
    ['localhost in capitals', 'LOCALHOST:3000'],
    ['127.0.0.1', '127.0.0.1:3000'],
    ['the IPv6 loopback', '[::1]:3000'],
    ['the IPv6 loopback written out', '[0:0:0:0:0:0:0:1]'],
    ['a host of the list', 'example.com', example],
    ['a host of the list with a port', 'example.com:8080', example],
    ['a host and port of the list', 'api.example.com:8443', example],
    ['any host where a proxy checks', 'what.ever', { allowedHosts: '*' }],
  ])('the host %s is served [SHT-004]', async (_title, host, options) => {
    await using handler = await serve(echo, options)
    expect((await handler.send(list({ host }))).status).toBe(200)
  })

  test.each<[string, string, Options?]>([
    ['a foreign host', 'evil.test'],
    ['a foreign host with a port', 'evil.test:3000'],
    ['a host that begins like a good one', 'localhost.evil.test'],
    ['a host that ends like a good one', 'evil-localhost'],
    ['a host behind a user', 'localhost@evil.test'],
    ['a host with a path', 'localhost/evil.test'],
    ['a foreign IPv6 address', '[2001:db8::1]:3000'],
    ['a broken IPv6 address', '[::1'],
    ['no IPv6 address', '[1:2]'],
    ['a port that is no number', 'localhost:x'],
    ['loopback where the list does not have it', 'localhost', example],
    ['another port than the list has', 'api.example.com:443', example],
    ['no port where the list has one', 'api.example.com', example],
  ])('%s is refused with 403 [SHT-002]', async (_title, host, options) => {
    const exchange = vi.fn(echo)
    await using handler = await serve(exchange, options)
    const received = await handler.send(list({ host }))
    expect([received.status, received.headers.get('content-type')]).toEqual([403, 'application/json'])
    expect(JSON.parse(received.body)).toMatchObject({ jsonrpc: '2.0', error: { code: errorCodes.invalidRequest } })
    expect(exchange).not.toHaveBeenCalled()
  })

  test('two hosts are refused with 400, whichever of them is served', async () => {
    const exchange = vi.fn(echo)
    await using handler = await serve(exchange, { allowedHosts: '*' })
    expect((await handler.send(list({ host: 'localhost, evil.test' }))).status).toBe(400)
    expect(exchange).not.toHaveBeenCalled()
  })

  test.each([
    ['Host', { host: 'evil.test:3000' }, '"evil.test:3000"'],
    ['Origin', { host: 'localhost', origin: 'https://evil.test' }, '"https://evil.test"'],
    ['Host, however long it is', { host: `a${'b'.repeat(1000)}` }, `"a${'b'.repeat(127)}…"`],
  ])('the operator sees a rejected %s, and the peer does not', async (_title, headers, named) => {
    const log = vi.fn()
    await using handler = await serve(echo, {}, { log })
    const { body } = await handler.send(list(headers))
    expect(body).not.toContain(named.slice(1, 9))
    expect(log).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ level: 'warn', code: 'rejected', message: expect.stringContaining(named) }),
    )
  })

  test('the operator sees a Host that is rejected again and again once', async () => {
    const log = vi.fn()
    await using handler = await serve(echo, {}, { log })
    for (let request = 0; request < 20; request++) await handler.send(list({ host: 'evil.test' }))
    expect(log).toHaveBeenCalledTimes(1)
  })

  test.each<[string, string, string, Options?]>([
    ['the host itself', 'http://localhost:3000', 'localhost:3000'],
    ['another loopback port', 'http://127.0.0.1:5173', 'localhost:3000'],
    ['the IPv6 loopback', 'http://[::1]:5173', 'localhost:3000'],
    ['a name under localhost', 'http://crm.localhost:5173', 'localhost:3000'],
    ['the host of a list', 'https://example.com', 'example.com', example],
    ['the host with its default port', 'https://example.com', 'example.com:443', example],
    ['an origin of the list', 'https://app.example.org', 'example.com', pages],
    ['an origin of the list that is no website', 'vscode-webview://abc', 'example.com', pages],
    ['any origin where all are allowed', 'https://any.test', 'example.com', { ...example, allowedOrigins: '*' }],
  ])('%s as an Origin is served [SHT-004]', async (...[_title, origin, host, options]) => {
    await using handler = await serve(echo, options)
    expect((await handler.send(list({ host, origin }))).status).toBe(200)
  })

  test.each<[string, string, string, Options?]>([
    ['a foreign Origin', 'https://evil.test', 'localhost:3000'],
    ['a foreign Origin on the same port', 'http://evil.test:3000', 'localhost:3000'],
    ['an opaque Origin', 'null', 'localhost:3000'],
    ['an opaque Origin where all are allowed', 'null', 'localhost', { allowedOrigins: '*' }],
    ['a malformed Origin', 'localhost', 'localhost:3000'],
    ['an Origin with a path', 'http://localhost:3000/', 'localhost:3000'],
    ['an Origin with a user', 'http://localhost@evil.test', 'localhost'],
    ['an Origin in capitals', 'HTTP://LOCALHOST', 'localhost'],
    ['a port that is none', 'http://localhost:99999', 'localhost'],
    ['two Origins', 'http://localhost, http://evil.test', 'localhost'],
    ['a file', 'file://', 'localhost'],
    ['an extension', 'chrome-extension://localhost', 'localhost'],
    ['a name that begins like a good one', 'http://localhost.evil.test', 'localhost'],
    ['another host of the list', 'https://api.example.com:8443', 'example.com', example],
    ['another port', 'https://example.com:8443', 'example.com', example],
    ['the own host where the list does not have it', 'https://example.com', 'example.com', pages],
    ['a loopback page on a public host', 'http://localhost:5173', 'example.com', example],
    ['the same host where no host is checked', 'http://evil.test', 'evil.test', { allowedHosts: '*' }],
  ])('%s is refused with 403 [SHT-002 SHT-003]', async (...[_title, origin, host, options]) => {
    const exchange = vi.fn(echo)
    await using handler = await serve(exchange, options)
    const received = await handler.send(list({ host, origin }))
    expect(received.status).toBe(403)
    expect(JSON.parse(received.body)).not.toHaveProperty('id')
    expect(exchange).not.toHaveBeenCalled()
  })

  test.each(['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'])(
    '%s is answered with 405 and what is allowed [SHT-081]',
    async (verb) => {
      await using handler = await serve(echo)
      const received = await handler.send(createPostRequest('tools/list', {}, { httpMethod: verb }))
      expect([received.status, received.headers.get('allow')]).toEqual([405, 'POST'])
      expect(JSON.parse(received.body).error.message).toContain(verb)
    },
  )

  test.each(['GET', 'DELETE'])(
    'the body of the 405 for %s names the revision of an older client [VER-008]',
    async (verb) => {
      await using handler = await serve(echo)
      const headers = { 'mcp-protocol-version': '2025-11-25' }
      const { body } = await handler.send(createPostRequest('tools/list', {}, { httpMethod: verb, headers }))
      expect(JSON.parse(body).error).toEqual({
        code: errorCodes.unsupportedProtocolVersion,
        message: `${verb} is not served here: this server speaks only MCP 2026-07-28; the client opened with 2025-11-25`,
        data: { supported: ['2026-07-28'], requested: '2025-11-25' },
      })
    },
  )

  test.each([
    ['no type', null],
    ['the text of a form', 'text/plain'],
    ['text that hides JSON', 'text/plain; application/json'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['a form with files', 'multipart/form-data; boundary=x'],
    ['JSON-RPC by its own name', 'application/json-rpc'],
    ['another charset', 'application/json; charset=latin1'],
  ])('a body of %s is refused with 415', async (_title, type) => {
    const exchange = vi.fn(echo)
    await using handler = await serve(exchange)
    // Bytes, since a Request gives text a type of its own.
    const body = new TextEncoder().encode(String(list({}).body))
    const received = await handler.send(
      createPostRequest('tools/list', {}, { headers: { 'content-type': type }, body }),
    )
    expect(received.status).toBe(415)
    expect(exchange).not.toHaveBeenCalled()
  })

  test('a compressed body is refused with 415', async () => {
    await using handler = await serve(echo)
    expect((await handler.send(list({ 'content-encoding': 'gzip' }))).status).toBe(415)
  })

  test.each(['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json; profile=x'])(
    'a body of type %s is served',
    async (type) => {
      await using handler = await serve(echo)
      expect((await handler.send(list({ 'content-type': type }))).status).toBe(200)
    },
  )

  test.each([
    [200, 'text/event-stream,application/json'],
    [200, 'application/json;q=0.5, text/*'],
    [200, '*/*'],
    [200, null],
    [406, 'application/json'],
    [406, 'text/event-stream'],
    [406, 'text/html, application/json'],
    [406, '*/*, text/event-stream;q=0'],
    [406, ''],
  ])('status %d for Accept: %s [SHT-015]', async (status, accept) => {
    await using handler = await serve(echo)
    expect((await handler.send(list({ accept }))).status).toBe(status)
  })

  test('no CORS header is sent unless allowedOrigins is given', async () => {
    await using handler = await serve(echo)
    const received = await handler.send(list({ origin: 'http://localhost:5173' }))
    expect([...received.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

test.each<[string, Options]>([
  ['allowedHosts', { allowedHosts: ['http://example.com'] }],
  ['allowedHosts', { allowedHosts: ['example.com/mcp'] }],
  ['allowedOrigins', { allowedOrigins: ['example.com'] }],
  ['allowedOrigins', { allowedOrigins: ['https://example.com/'] }],
  ['allowedOrigins', { allowedOrigins: ['null'] }],
  ['allowedOrigins', { allowedOrigins: ['https://*.example.com'] }],
  ['timeoutMs', { timeoutMs: -1 }],
  ['keepAliveMs', { keepAliveMs: Number.NaN }],
  ['maxBodyBytes', { maxBodyBytes: -1 }],
])('%s that makes no sense is an error when the handler is made: %o', async (name, options) => {
  const [[, serve] = []] = serveFunctions
  await expect(serve?.(echo, options)).rejects.toThrow(name)
})
