import { headerParamsKey, withContext } from '@x/exchange'
import { protocolVersion } from '@x/schema'
import { describe, expect, test } from 'vitest'
import {
  callWith,
  formatEvent,
  createEventStreamAnswer,
  createJsonAnswer,
  rpcRequest,
  rpcResult,
  scriptedServer,
} from '../testing/scripted-server.ts'
import { type Connect, senders } from '../testing/senders.ts'
import { isHttpError } from './http-error.ts'
import type { HttpHeaders } from './options.ts'

describe.each(senders)('connectHttp over %s', (_name, connect: Connect) => {
  test('sends a request as one POST whose body is the request alone [SHT-007 SHT-008 SHT-011]', async () => {
    await using server = await scriptedServer(createJsonAnswer(rpcResult()))
    await using connection = connect(server.url)
    const request = rpcRequest()
    for (let round = 0; round < 5; round += 1) await connection.exchange(request, callWith())
    expect(server.received.map(({ method, url, body }) => [method, url, JSON.parse(body)])).toEqual(
      Array.from({ length: 5 }, () => ['POST', '/mcp', request]),
    )
    // undici waits one turn of the event loop before it uses a connection again, and may open a second meanwhile.
    expect(server.countConnections()).toBeLessThan(3)
  })

  test('repeats members of the body in the headers [SHT-009 SHT-010 SHT-027 SHT-028 SHT-033 SHT-034]', async () => {
    await using server = await scriptedServer(createJsonAnswer(rpcResult()))
    await using connection = connect(server.url)
    await connection.exchange(rpcRequest(), callWith())
    expect(server.received[0]?.headers).toMatchObject({
      accept: 'application/json, text/event-stream',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'mcp-protocol-version': protocolVersion,
      'mcp-method': 'tools/call',
      'mcp-name': 'greet',
    })
  })

  test('sends header parameters as they were encoded [SHT-058]', async () => {
    await using server = await scriptedServer(createJsonAnswer(rpcResult()))
    await using connection = connect(server.url)
    const headerParams = new Map([
      ['Region', 'us-west1'],
      ['Greeting', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    ])
    await connection.exchange(rpcRequest(), withContext(callWith(), headerParamsKey, headerParams))
    expect(server.received[0]?.headers).toMatchObject({
      'mcp-param-region': 'us-west1',
      'mcp-param-greeting': '=?base64?SGVsbG8sIOS4lueVjA==?=',
    })
  })

  test('asks for the headers of each request anew', async () => {
    await using server = await scriptedServer(createJsonAnswer(rpcResult()))
    let asked = 0
    const headers = async ({ method }: { method: string }): Promise<HttpHeaders> => {
      asked += 1
      return { authorization: `Bearer ${method}-${asked}` }
    }
    await using connection = connect(server.url, { headers })
    await connection.exchange(rpcRequest(), callWith())
    await connection.exchange(rpcRequest(), callWith())
    const sent = server.received.map((request) => request.headers.authorization)
    expect(sent).toEqual(['Bearer tools/call-1', 'Bearer tools/call-2'])
  })

  test('takes a JSON body and an event stream alike [SHT-016]', async () => {
    const note = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 7, progress: 1 } }
    let answer = createJsonAnswer(rpcResult())
    await using server = await scriptedServer((...all) => answer(...all))
    await using connection = connect(server.url)
    expect(await connection.exchange(rpcRequest(), callWith())).toEqual(rpcResult())
    answer = createEventStreamAnswer(formatEvent(note), formatEvent(rpcResult()))
    const call = callWith()
    expect(await connection.exchange(rpcRequest(), call)).toEqual(rpcResult())
    expect(call.heard).toEqual([note])
  })

  test.each([
    ['a result', createJsonAnswer(rpcResult({}, '7'))],
    ['an event', createEventStreamAnswer(formatEvent(rpcResult({}, '7')))],
    ['an error', createJsonAnswer({ jsonrpc: '2.0', id: '7', error: { code: -32601, message: 'no' } }, 404)],
  ])('takes %s whose id is the number of the request as a string', async (_title, answer) => {
    await using server = await scriptedServer(answer)
    await using connection = connect(server.url)
    expect(await connection.exchange(rpcRequest(), callWith())).toMatchObject({ id: 7 })
  })

  test.each([400, 401, 403, 404, 500])('gives the JSON-RPC error in the body of a %i', async (status) => {
    const error = { jsonrpc: '2.0', id: 7, error: { code: -32601, message: 'Method not found' } }
    await using server = await scriptedServer(createJsonAnswer(error, status))
    await using connection = connect(server.url)
    expect(await connection.exchange(rpcRequest(), callWith())).toEqual(error)
  })

  test('gives an error without an id that of its request, because the server has not read the request', async () => {
    const error = { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' } }
    await using server = await scriptedServer(createJsonAnswer(error, 400))
    await using connection = connect(server.url)
    expect(await connection.exchange(rpcRequest(), callWith())).toEqual({ ...error, id: rpcRequest().id })
  })

  test.each([
    ['an empty 404 of a server that has no such endpoint', 404, 'text/plain', ''],
    ['a text', 502, 'text/plain', 'Bad\r\n Gateway'],
    ['JSON that is no JSON-RPC error', 400, 'application/json', '{"error":"nope"}'],
    ['a result under an error status', 500, 'application/json', JSON.stringify(rpcResult())],
  ])('reports %s by its status', async (...[, status, type, body]) => {
    await using server = await scriptedServer((response) =>
      response.writeHead(status, { 'content-type': type }).end(body),
    )
    await using connection = connect(server.url)
    const failure = await connection.exchange(rpcRequest(), callWith()).catch((error: unknown) => error)
    const excerpt = body.replace('\r\n ', ' ').slice(0, 200)
    expect(failure).toMatchObject({ name: 'HttpError', code: 'status', status, origin: server.origin, excerpt })
    expect(isHttpError(failure)).toBe(true)
  })

  const scripts = `<script>${'if (a < b) load();'.repeat(20)}</script>`
  const endless = '<p>'.repeat(30_000)

  test.each([
    ['an error page of a proxy', 502, '<html><h1>Bad\r\n Gateway</h1>', 'answered 502: Bad Gateway'],
    ['an error page of a CDN', 520, `${scripts}<TITLE>Web server\n error</TITLE>`, 'answered 520: Web server error'],
    ['a long error page', 403, `<title>Blocked</title>${endless}`, 'answered 403: Blocked'],
    [
      'a login page in place of an answer',
      200,
      `<head>${scripts}<title lang="en">Sign in</title></head>Your &amp; password${endless}`,
      'answered 200 with a body of type text/html instead of application/json or text/event-stream: Sign in Your &amp; password',
    ],
  ])('says what a person would read on %s', async (_title, status, body, message) => {
    await using server = await scriptedServer((response) =>
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(body),
    )
    await using connection = connect(server.url)
    const code = status === 200 ? 'protocol' : 'status'
    const excerpt = message.split(': ').at(-1)
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({
      code,
      status,
      message,
      excerpt,
    })
  })

  const date = 'Wed, 30 Dec 2026 10:59:53 GMT'

  test.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '7' }, 7000],
    [{ date, 'retry-after': 'Wed, 30 Dec 2026 11:00:00 GMT' }, 7000],
    [{ date, 'retry-after': 'Wed, 30 Dec 2026 10:00:00 GMT' }, undefined],
    [{ date, 'retry-after': 'soon' }, undefined],
  ])('says how long a busy server asks to wait: %j', async (headers, retryAfterMs) => {
    await using server = await scriptedServer((response) => response.writeHead(503, headers).end())
    await using connection = connect(server.url)
    const failure = connection.exchange(rpcRequest(), callWith())
    await expect(failure).rejects.toMatchObject({ code: 'status', status: 503, retryAfterMs })
    expect(server.received).toHaveLength(1)
  })

  test('keeps credentials out of errors, even when the server echoes them', async () => {
    await using server = await scriptedServer((response, { headers }) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(`you sent ${headers.authorization}`)
    })
    await using connection = connect(`${server.url}?key=querysecret`, {
      headers: { authorization: 'Bearer s3cr3ttoken' },
    })
    const failure = await connection.exchange(rpcRequest(), callWith()).catch((error: unknown) => error)
    const { message = '', excerpt = '' } = failure as { message?: string; excerpt?: string }
    expect(excerpt).toContain('you sent')
    expect(message + excerpt + connection.url).not.toMatch(/s3cr3ttoken|querysecret/)
  })

  test.each([
    ['accepted without a body', 202, undefined, ''],
    ['text', 200, 'text/plain', 'hello'],
    ['a batch', 200, 'application/json', `[${JSON.stringify(rpcResult())}]`],
    ['a notification', 200, 'application/json', '{"jsonrpc":"2.0","method":"notifications/x"}'],
    ['bytes that are not UTF-8', 200, 'application/json', Buffer.from([0x22, 0xff, 0x22])],
    ['a response to another request', 200, 'application/json', JSON.stringify(rpcResult({}, 8))],
    ['a response whose id is a number in another form', 200, 'application/json', JSON.stringify(rpcResult({}, '07'))],
  ])('refuses as an answer: %s', async (...[, status, type, body]) => {
    await using server = await scriptedServer((response) => {
      response.writeHead(status, type === undefined ? {} : { 'content-type': type }).end(body)
    })
    await using connection = connect(server.url)
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({
      name: 'HttpError',
      code: 'protocol',
      origin: new URL(server.url).origin,
      // The client names the address, so that the transport's message would name it a second time.
      message: expect.not.stringContaining(new URL(server.url).host),
    })
  })

  test.each([
    ['of a length that was said', { 'content-length': '100' }],
    ['in chunks', {}],
  ])('an answer %s that breaks off in the middle was lost with its connection', async (_title, headers) => {
    await using server = await scriptedServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers })
      response.write('{"jsonrpc":', () => response.destroy())
    })
    await using connection = connect(server.url)
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({
      name: 'HttpError',
      code: 'closed',
    })
  })

  test('closing rejects running and later requests', async () => {
    await using server = await scriptedServer(() => {})
    const connection = connect(server.url)
    const arrived = server.next()
    const running = connection.exchange(rpcRequest(), callWith()).catch((error: unknown) => error)
    const { closed } = await arrived
    await connection.close()
    expect(await running).toMatchObject({ code: 'closed' })
    await closed
    await expect(connection.exchange(rpcRequest(), callWith())).rejects.toMatchObject({ code: 'closed' })
    expect(server.received).toHaveLength(1)
  })
})

test.each([
  ['another scheme', 'ftp://example.com/mcp', /http: or https:/],
  ['credentials in the address', 'https://me:secret@example.com/mcp', /Authorization header/],
])('connectHttp refuses %s', (_title, url, message) => {
  for (const [, connect] of senders) expect(() => connect(url)).toThrow(message)
})

test('connectHttp refuses an option that does not exist', () => {
  const options = { retry: false, header: { authorization: 'Bearer x' } } as const
  const message = 'connectHttp has no option `header`: did you mean `headers`?'
  for (const [, connect] of senders) expect(() => connect('http://127.0.0.1:1/mcp', options)).toThrow(message)
})

test.each([
  ['fixed headers', { headers: { authorization: 'Bearer x' } }, false],
  ['a function for its headers', { headers: () => ({ authorization: 'Bearer x' }) }, true],
  ['no headers', {}, false],
])('a connection with %s says whether its requests may be of several principals', async (_, options, mixed) => {
  for (const [, connect] of senders) {
    await using connection = connect('http://127.0.0.1:1/mcp', options)
    expect(connection.canMixPrincipals).toBe(mixed)
  }
})
