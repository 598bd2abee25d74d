import { type Exchange, headerParamsKey, type Principal } from '@x/exchange'
import { errorCodes, metaKeys, prepareResult, protocolVersion } from '@x/schema'
import { describe, expect, test, vi } from 'vitest'
import { echo, pendingCalls, resultOf } from '../testing/exchanges.ts'
import { createPostRequest } from '../testing/sent.ts'
import { serveFunctions } from '../testing/shells.ts'

const list = createPostRequest('tools/list')
const failing =
  (code: number): Exchange =>
  async ({ id }) => ({ jsonrpc: '2.0', id, error: { code, message: 'no' } })

describe.each(serveFunctions)('%s', (_, serve) => {
  test('a POST of a request is answered with one JSON object [SHT-001 SHT-015 BAS-006]', async () => {
    await using handler = await serve(echo)
    const { status, headers, body } = await handler.send(createPostRequest('tools/list', {}, { id: 'a' }))
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(body).toBe('{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","method":"tools/list"}}')
  })

  test('a large result that is sent often arrives whole under every kind of id', async () => {
    const result = prepareResult({ resultType: 'complete', text: 'é'.repeat(50_000) })
    await using handler = await serve(async ({ id }) => ({ jsonrpc: '2.0', id, result }))
    for (const id of [1, 'ü"']) {
      const { headers, body } = await handler.send(createPostRequest('tools/list', {}, { id }))
      expect(JSON.parse(body)).toEqual({ jsonrpc: '2.0', id, result })
      expect(headers.get('content-type')).toBe('application/json')
      // A web response leaves its length to the platform.
      expect([null, String(Buffer.byteLength(body))]).toContain(headers.get('content-length'))
    }
  })

  test.each([
    ['an unknown method is 404 [SHT-031]', errorCodes.methodNotFound, 404],
    ['an unknown version is 400 [SHT-030]', errorCodes.unsupportedProtocolVersion, 400],
    ['a missing capability is 400 [BAS-058]', errorCodes.missingRequiredClientCapability, 400],
    ['a missing field of _meta is 400 [BAS-053]', errorCodes.invalidParams, 400],
    ['a header that does not repeat an argument is 400 [SHT-064 SHT-072]', errorCodes.headerMismatch, 400],
    ['an invalid request is 400', errorCodes.invalidRequest, 400],
    ['a parse error is 400', errorCodes.parse, 400],
    ['an internal error is 200, as the official server sends it', errorCodes.internal, 200],
    ["an application's own error is 200", 42, 200],
  ])('the status of %s', async (_title, code, status) => {
    await using handler = await serve(failing(code))
    const received = await handler.send(list)
    expect(received.status).toBe(status)
    expect(JSON.parse(received.body)).toEqual({ jsonrpc: '2.0', id: 1, error: { code, message: 'no' } })
  })

  test('a notification is answered with 202 and no body [SHT-013 BAS-025]', async () => {
    await using handler = await serve(echo)
    const body = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
    const headers = { 'mcp-method': 'notifications/cancelled' }
    const received = await handler.send(createPostRequest('notifications/cancelled', {}, { headers, body }))
    expect([received.status, received.body, received.headers.get('content-type')]).toEqual([202, '', null])
  })

  const bad = errorCodes.invalidRequest
  test.each<[string, string | Uint8Array, number, number | undefined]>([
    ['no JSON', '{"jsonrpc"', errorCodes.parse, undefined],
    ['no text at all', '', errorCodes.parse, undefined],
    ['invalid UTF-8', Uint8Array.of(0x22, 0xff, 0x22), errorCodes.parse, undefined],
    ['a byte order mark', '\uFEFF{"jsonrpc":"2.0","id":1,"method":"a"}', errorCodes.parse, undefined],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', bad, undefined],
    ['a response', '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}', bad, undefined],
    ['a request without a method', '{"jsonrpc":"2.0","id":7}', bad, 7],
    ['a request of JSON-RPC 1', '{"id":7,"method":"tools/list"}', bad, 7],
    ['a malformed notification', '{"jsonrpc":"2.0","method":5}', bad, undefined],
    ['a null id', '{"jsonrpc":"2.0","id":null,"method":"tools/list"}', bad, undefined],
  ])(
    '%s is refused with a JSON-RPC error that has the id if there is one [BAS-012]',
    async (...[_title, body, code, id]) => {
      await using handler = await serve(echo)
      const received = await handler.send(createPostRequest('tools/list', {}, { body }))
      expect([received.status, received.headers.get('content-type')]).toEqual([400, 'application/json'])
      const answer = JSON.parse(received.body)
      expect([answer.error.code, answer.id]).toEqual([code, id])
    },
  )

  test('a body past the bound is rejected with 413 and a JSON-RPC error, with any Content-Length', async () => {
    await using handler = await serve(echo, { maxBodyBytes: 400 })
    const received = await handler.send(createPostRequest('tools/list', { padding: 'x'.repeat(400) }))
    expect(received.status).toBe(413)
    expect(JSON.parse(received.body).error).toEqual({
      code: errorCodes.parse,
      message: 'The body is longer than 400 bytes',
    })
  })

  test('a body of exactly the bound is served', async () => {
    const sent = createPostRequest('tools/list', { padding: '€'.repeat(50) })
    const bytes = new TextEncoder().encode(String(sent.body)).length
    await using handler = await serve(echo, { maxBodyBytes: bytes })
    expect((await handler.send(sent)).status).toBe(200)
  })

  test.each([
    ['nested too deeply', `${'['.repeat(300)}${']'.repeat(300)}`],
    ['of too many elements', `[${'0,'.repeat(100_000)}0]`],
  ])('a body %s is refused before it is parsed', async (_title, args) => {
    await using handler = await serve(echo)
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":${args}}}`
    const received = await handler.send(createPostRequest('tools/list', {}, { body }))
    expect([received.status, JSON.parse(received.body).error.code]).toEqual([400, errorCodes.parse])
  })

  test('session and resumption headers of older revisions are ignored, and none is minted [SHT-082 SHT-083]', async () => {
    await using handler = await serve(echo)
    const headers = { 'mcp-session-id': 'abc', 'last-event-id': '5' }
    const received = await handler.send(createPostRequest('tools/list', {}, { headers }))
    expect([received.status, received.headers.get('mcp-session-id')]).toEqual([200, null])
  })

  const secret = new Error('the password is 123')
  test.each<[string, Exchange]>([
    ['rejects', () => Promise.reject(secret)],
    [
      'throws',
      () => {
        throw secret
      },
    ],
  ])('an exchange that %s is answered without a word of why, and reported', async (_title, exchange) => {
    const log = vi.fn()
    await using handler = await serve(exchange, {}, { log })
    const received = await handler.send(list)
    expect(received.status).toBe(200)
    expect(JSON.parse(received.body)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: errorCodes.internal, message: 'Internal error' },
    })
    expect(log).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ level: 'error', method: 'http', name: expect.stringMatching(/^POST /), err: secret }),
    )
  })

  test('an exchange whose result is not JSON is answered with an error', async () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const log = vi.fn()
    await using handler = await serve(
      async (request) =>
        resultOf(
          request,
          JSON.parse('{}', () => cycle),
        ),
      {},
      { log },
    )
    const received = await handler.send(list)
    expect([received.status, JSON.parse(received.body).error.code]).toEqual([200, errorCodes.internal])
    expect(log).toHaveBeenCalledOnce()
  })

  test('the principal that the option finds comes with the call', async () => {
    let seen: Principal | undefined
    const exchange: Exchange = async (request, call) => {
      seen = call.principal
      return resultOf(request)
    }
    await using handler = await serve(exchange, {
      auth: async (request) => ({ subject: request.header('authorization') ?? 'none' }),
    })
    await handler.send(createPostRequest('tools/list', {}, { headers: { authorization: 'Bearer alice' } }))
    expect(seen).toEqual({ subject: 'Bearer alice' })
  })

  test('an auth function may reject, and then the body is not even read [SHT-006]', async () => {
    const exchange = vi.fn(echo)
    const headers = { 'WWW-Authenticate': 'Bearer' }
    await using handler = await serve(exchange, {
      auth: () => ({ status: 401, message: 'Who are you?', headers }),
    })
    const received = await handler.send(createPostRequest('tools/list', {}, { body: 'not even JSON' }))
    expect([received.status, received.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(JSON.parse(received.body).error.message).toBe('Who are you?')
    expect(exchange).not.toHaveBeenCalled()
  })

  test('a principal with a status of its own is no rejection', async () => {
    const principal = { subject: 'ada', status: 'active' }
    await using handler = await serve(echo, { auth: () => principal })
    expect((await handler.send(list)).status).toBe(200)
  })

  test('an auth function that fails is answered as a failure and reported', async () => {
    const log = vi.fn()
    await using handler = await serve(echo, { auth: () => Promise.reject(secret) }, { log })
    const received = await handler.send(list)
    expect([received.status, received.body.includes('password')]).toEqual([500, false])
    expect(log).toHaveBeenCalledOnce()
  })

  test.each([
    false,
    true,
    0,
    'ada',
    '',
    null,
    [],
    {},
    { user: 'ada' },
    { subject: '' },
    { subject: 'ada', scopes: 'a' },
  ])(
    'a caller for whom auth returns %j, which is no principal, is not served, and the log says what is right',
    async (returned) => {
      const log = vi.fn()
      const exchange = vi.fn(echo)
      await using handler = await serve(exchange, { auth: () => returned as never }, { log })
      const received = await handler.send(list)
      expect([received.status, received.body.includes('principal')]).toEqual([500, false])
      expect(exchange).not.toHaveBeenCalled()
      const message = expect.stringMatching(/^auth returned .*: it must return a principal, such as { subject: /)
      expect(log.mock.calls).toMatchObject([[{ err: { message } }]])
    },
  )

  test('clients that use the same ids at the same time get their own answers [BAS-028 BAS-006]', async () => {
    const { exchange, next } = pendingCalls()
    await using handler = await serve(exchange)
    for (let round = 0; round < 50; round += 1) {
      const alice = handler.send(createPostRequest('tools/call', { name: 'alice' }, { id: 0 }))
      const bob = handler.send(createPostRequest('tools/call', { name: 'bob' }, { id: 0 }))
      const calls = [await next(), await next()]
      for (const call of round % 2 === 0 ? calls : calls.reverse())
        call.answer({ secret: `of ${call.request.params?.name}` })
      expect(JSON.parse((await alice).body).result.secret).toBe('of alice')
      expect(JSON.parse((await bob).body).result.secret).toBe('of bob')
    }
  })

  test('arguments that headers repeat come with the call, by name in any case and still encoded [SHT-069]', async () => {
    let readParams: unknown
    const exchange: Exchange = async (request, call) => {
      const given = call.context.get(headerParamsKey)
      const all = new Map<string, string>()
      given?.forEach((value, name) => all.set(name, value))
      readParams = [given?.get('REGION'), given?.get('none'), Object.fromEntries(all)]
      return resultOf(request)
    }
    await using handler = await serve(exchange)
    const headers = { 'Mcp-Param-Region': 'us', 'mcp-param-text': '=?base64?IHg=?=', 'X-Other': '1' }
    await handler.send(createPostRequest('tools/call', { name: 'a' }, { headers }))
    expect(readParams).toEqual(['us', undefined, { region: 'us', text: '=?base64?IHg=?=' }])
  })

  test('a request without clientInfo reaches the exchange whole [BAS-054]', async () => {
    const exchange = vi.fn(echo)
    await using handler = await serve(exchange)
    await handler.send(createPostRequest('tools/list', { cursor: 'é' }))
    expect(exchange.mock.calls[0]?.[0]).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/list',
      params: {
        cursor: 'é',
        _meta: { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {} },
      },
    })
  })
})
