import { callHeadersKey, type ConnectionView, type Exchange } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { type Client, createCacheStore, createClient, type CoreClientOptions } from '@x/client'
import { describe, expect, test } from 'vitest'
import { sessionKey, sessionNotFoundCode } from '../session-metadata.ts'
import {
  createSessionResult,
  host,
  type ReceivedRequest,
  createTextResult,
  createScriptedExchange,
  type ScriptedExchange,
} from '../testing/scripted.ts'
import { isSessionNotFound } from './session-not-found.ts'
import { type SessionsClient, sessionsClient, type SessionsClientOptions } from './sessions-client.ts'

const notFound = (sessionId: string) => ({
  code: sessionNotFoundCode,
  message: 'Session not found',
  data: { sessionId },
})

/** Gives ids in turn, and answers other requests as the test says. */
const serving = (answer: (received: ReceivedRequest) => JsonObject | ReturnType<typeof notFound>): ScriptedExchange => {
  let last = 0
  return createScriptedExchange((received) => {
    if (received.request.method !== 'sessions/create') return answer(received)
    last += 1
    return createSessionResult({ sessionId: `s${last}`, state: `${last}-0`, expiresAt: '2026-03-01T00:00:00Z' })
  })
}
const echo = serving(({ session }) => createTextResult('hi', { sessionId: String(session?.['sessionId']) }))
const open = (
  target: Exchange | ConnectionView,
  { target: named, user, ...options }: SessionsClientOptions & Partial<CoreClientOptions> = {},
): Client & { readonly sessions: SessionsClient } =>
  createClient(target, { ...host, ...options, extensions: [sessionsClient({ target: named, user })] })

describe('sessions.create()', () => {
  test('requests a session, and never names one, even if the options contain one [SES-003]', async () => {
    const exchange = serving(() => createTextResult('hi'))
    const meta = { [sessionKey]: { sessionId: 'mine' }, traceparent: 'x' }
    const session = await open(exchange).sessions.create({ meta })
    expect(exchange.received[0]).toMatchObject({
      request: { method: 'sessions/create', params: { _meta: { traceparent: 'x' } } },
      session: undefined,
    })
    expect([session.id, session.expiresAt, session.ended]).toEqual(['s1', '2026-03-01T00:00:00Z', false])
  })

  test('sends the request again if the connection breaks before the answer [UNA-003]', async () => {
    let sentCount = 0
    const exchange = createScriptedExchange(() => {
      sentCount += 1
      if (sentCount === 1) throw Object.assign(new Error('cut'), { name: 'HttpError', code: 'closed' })
      return createSessionResult({ sessionId: 's1' })
    })
    expect((await open(exchange).sessions.create()).id).toBe('s1')
    expect(sentCount).toBe(2)
  })

  test('declares sessions among the experimental capabilities [SES-001]', async () => {
    const exchange = serving(() => createTextResult('hi'))
    await open(exchange, { capabilities: { experimental: { other: {} } } }).sessions.create()
    const meta = exchange.received[0]?.request.params?.['_meta']
    expect(meta).toMatchObject({
      'io.modelcontextprotocol/clientCapabilities': { experimental: { other: {}, sessions: {} } },
    })
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['no id', { state: 'x' }],
    ['an id that no header can carry', { sessionId: 'a b' }],
    ['a huge state', { sessionId: 'a', state: 'x'.repeat(300_000) }],
  ])('refuses a server that answers with %s', async (_title, session) => {
    const client = open(createScriptedExchange(() => createSessionResult(session)))
    await expect(client.sessions.create()).rejects.toMatchObject({ name: 'SessionError', code: 'invalid_answer' })
  })

  test('rejects with the error of a server that has no sessions', async () => {
    const client = open(createScriptedExchange(() => ({ code: -32601, message: 'Method not found' })))
    await expect(client.sessions.create()).rejects.toMatchObject({ name: 'ClientError', rpc: { code: -32601 } })
  })
})

describe('A session', () => {
  test('names itself in each of its requests, with the state byte for byte and the header [SES-005 SES-016 SES-017]', async () => {
    const state = 'ünï "\\\u0000 {}  =='
    const exchange = createScriptedExchange(({ request, session }) =>
      request.method === 'sessions/create'
        ? createSessionResult({ sessionId: 'a', state })
        : request.method === 'tools/list'
          ? { resultType: 'complete', tools: [], ttlMs: 0, cacheScope: 'private' }
          : createTextResult('hi', { sessionId: String(session?.['sessionId']) }),
    )
    const session = await open(exchange).sessions.create()
    await session.callTool('greet')
    await session.listTools()
    await session.manualRounds.callTool('greet')
    await session.request('notes/get')
    const [, ...others] = exchange.received
    expect(others.map((one) => one.session)).toEqual(others.map(() => ({ sessionId: 'a', state })))
    expect(others.map(({ call }) => call.context.get(callHeadersKey)?.get('Mcp-Session-Id'))).toEqual([
      'a',
      'a',
      'a',
      'a',
    ])
  })

  test('takes each new state and expiry, and keeps what an answer says nothing of [SES-009 SES-010]', async () => {
    const answers: JsonObject[] = [{ state: 'new', expiresAt: '2027-01-01T00:00:00Z' }, {}, { state: '' }]
    const exchange = serving(() => createTextResult('hi', { sessionId: 's1', ...answers.shift() }))
    const session = await open(exchange).sessions.create()
    for (let count = 0; count < 4; count += 1) await session.callTool('greet')
    expect(exchange.received.map((one) => one.session?.['state'])).toEqual([undefined, '1-0', 'new', 'new', ''])
    expect(session.expiresAt).toBe('2027-01-01T00:00:00Z')
  })

  test('has the state of the answer that came last, whichever request was sent first [SES-009]', async () => {
    const waiting: ((answer: JsonObject) => void)[] = []
    const exchange = createScriptedExchange(({ request }) =>
      request.method === 'sessions/create'
        ? createSessionResult({ sessionId: 'a' })
        : new Promise<JsonObject>((resolve) => waiting.push(resolve)),
    )
    const session = await open(exchange).sessions.create()
    const [first, second] = [session.callTool('one'), session.callTool('two')]
    await expect.poll(() => waiting.length).toBe(2)
    waiting[1]?.(createTextResult('2', { sessionId: 'a', state: 'two' }))
    await second
    waiting[0]?.(createTextResult('1', { sessionId: 'a', state: 'one' }))
    await first
    void session.callTool('three').catch(() => {})
    await expect.poll(() => exchange.received.at(-1)?.session).toEqual({ sessionId: 'a', state: 'one' })
  })

  test('exists beside others, and beside calls without a session', async () => {
    const exchange = serving(({ session }) =>
      createTextResult(
        'hi',
        session && { sessionId: String(session['sessionId']), state: `${String(session['state'])}+` },
      ),
    )
    const client = open(exchange)
    const [one, two] = [await client.sessions.create(), await client.sessions.create()]
    for (const caller of [one, two, client, one, two]) await caller.callTool('greet')
    expect(exchange.received.slice(2).map((received) => received.session)).toEqual([
      { sessionId: 's1', state: '1-0' },
      { sessionId: 's2', state: '2-0' },
      undefined,
      { sessionId: 's1', state: '1-0+' },
      { sessionId: 's2', state: '2-0+' },
    ])
  })

  test('fails a call that is answered with another session, and keeps its own [SES-008]', async () => {
    const exchange = serving(() => createTextResult('stolen', { sessionId: 's2', state: 'x' }))
    const session = await open(exchange).sessions.create()
    for (let count = 0; count < 2; count += 1) {
      await expect(session.callTool('greet')).rejects.toMatchObject({ cause: { code: 'invalid_answer' } })
    }
    expect(exchange.received.at(-1)?.session).toEqual({ sessionId: 's1', state: '1-0' })
  })

  test('is over for good once the server does not find it, and nothing more is sent for it [SES-013]', async () => {
    const exchange = serving(({ session }) => notFound(String(session?.['sessionId'])))
    const session = await open(exchange).sessions.create()
    const first: unknown = await session.callTool('greet').catch((error: unknown) => error)
    const second: unknown = await session.listTools().catch((error: unknown) => error)
    expect([isSessionNotFound(first), isSessionNotFound(second), session.ended]).toEqual([true, true, true])
    expect(second).toMatchObject({ message: expect.stringContaining('create another one with create()') })
    await session.delete()
    expect(exchange.received).toHaveLength(2)
  })

  test('is not over when a server behind the server does not find one of its own', async () => {
    const exchange = serving(() => notFound('another'))
    const session = await open(exchange).sessions.create()
    await expect(session.callTool('greet')).rejects.toMatchObject({ rpc: { code: sessionNotFoundCode } })
    expect(session.ended).toBe(false)
  })
})

describe('Deleting a session', () => {
  test('names it, and is done once [SES-011]', async () => {
    const exchange = serving(() => ({ resultType: 'complete' }))
    const session = await open(exchange).sessions.create()
    await session.delete()
    await session.delete()
    expect(exchange.received.map(({ request }) => request.method)).toEqual(['sessions/create', 'sessions/delete'])
    expect(exchange.received[1]?.session).toMatchObject({ sessionId: 's1' })
    await expect(session.callTool('greet')).rejects.toMatchObject({ cause: { name: 'SessionError', code: 'deleted' } })
    expect(exchange.received).toHaveLength(2)
  })

  test('comes at the end of the scope with `await using` [SES-011]', async () => {
    const exchange = serving(() => ({ resultType: 'complete' }))
    const client = open(exchange)
    {
      await using session = await client.sessions.create()
      expect(session.ended).toBe(false)
    }
    expect(exchange.received.at(-1)?.request.method).toBe('sessions/delete')
  })

  test('fails loudly where it is asked for, and not at the end of a scope, where it would hide another error', async () => {
    const exchange = serving(() => {
      throw new Error('broken')
    })
    const client = open(exchange)
    const session = await client.sessions.create()
    await expect(session.delete()).rejects.toMatchObject({ name: 'ClientError', code: 'transport' })
    const use = async (): Promise<void> => {
      await using other = await client.sessions.create()
      throw new Error(`the first error of ${other.id}`)
    }
    await expect(use()).rejects.toThrow('the first error of s2')
  })

  test('of one that the server does not find is not a failure', async () => {
    const exchange = serving(({ session }) => notFound(String(session?.['sessionId'])))
    const session = await open(exchange).sessions.create()
    await session.delete()
    expect(session.ended).toBe(true)
  })
})

describe('What is cached', () => {
  const listing = (): ScriptedExchange =>
    serving(({ session, request }) =>
      request.method === 'tools/list'
        ? {
            resultType: 'complete',
            tools: [{ name: `of-${String(session?.['sessionId'] ?? 'nobody')}`, inputSchema: { type: 'object' } }],
            ttlMs: 60_000,
            cacheScope: 'public',
            ...(session && { _meta: { [sessionKey]: { sessionId: String(session['sessionId']) } } }),
          }
        : createTextResult('hi', { sessionId: String(session?.['sessionId']), state: 'another' }),
    )

  test.each<[string, Partial<CoreClientOptions>]>([
    ['a cache of its own', {}],
    ['a store that clients share', { cache: createCacheStore().partition('ada') }],
  ])('in %s is of one session alone, and of none of the calls without', async (_title, options) => {
    const exchange = listing()
    const client = open(exchange, options)
    const [one, two] = [await client.sessions.create(), await client.sessions.create()]
    const names: string[] = []
    for (const caller of [one, two, client, one, two, client])
      names.push(...(await caller.listTools()).map(({ name }) => name))
    expect(names).toEqual(['of-s1', 'of-s2', 'of-nobody', 'of-s1', 'of-s2', 'of-nobody'])
    expect(exchange.received.filter(({ request }) => request.method === 'tools/list')).toHaveLength(3)
  })

  test('is forgotten when the session has another state, on which it may depend', async () => {
    const exchange = listing()
    const client = open(exchange)
    const [one, two] = [await client.sessions.create(), await client.sessions.create()]
    for (const session of [one, two]) await session.listTools()
    await one.callTool('greet')
    for (const session of [one, two]) await session.listTools()
    const listed = exchange.received.filter(({ request }) => request.method === 'tools/list')
    expect(listed.map(({ session }) => session?.['sessionId'])).toEqual(['s1', 's2', 's1'])
  })
})

describe('A serialized session', () => {
  const owner = { target: 'https://example.com/mcp', user: 'ada' }

  test('continues in another process with its last state [SES-004 SES-005]', async () => {
    const exchange = serving(() =>
      createTextResult('hi', { sessionId: 's1', state: 'next', expiresAt: '2027-01-01T00:00:00Z' }),
    )
    const session = await open(exchange, owner).sessions.create()
    await session.callTool('greet')
    const serialized: unknown = JSON.parse(JSON.stringify(session.serialize()))
    const resumed = open(exchange, owner).sessions.resume(serialized)
    expect([resumed.id, resumed.expiresAt]).toEqual(['s1', '2027-01-01T00:00:00Z'])
    await resumed.callTool('greet')
    expect(exchange.received.at(-1)?.session).toEqual({ sessionId: 's1', state: 'next' })
  })

  test.each([
    ['another server', { target: 'https://evil.example/mcp' }],
    ['another user', { user: 'eve' }],
    ['no user', { user: null }],
  ])('is not sent to or for %s [SES-004]', async (_title, other) => {
    const serialized = (await open(echo, owner).sessions.create()).serialize()
    const exchange = serving(() => createTextResult('hi'))
    expect(() => open(exchange, { ...owner, ...other }).sessions.resume(serialized)).toThrow(
      expect.objectContaining({ name: 'SessionError', code: 'foreign' }),
    )
    expect(exchange.received).toHaveLength(0)
  })

  test('names the URL of the connection as its server, unless `target` names another [SES-004]', async () => {
    const connection = { exchange: serving(() => createTextResult('hi')), url: 'https://example.com/mcp' }
    const session = await open(connection, { user: null }).sessions.create()
    expect(session.serialize()).toMatchObject({ target: 'https://example.com/mcp', user: null })
  })

  test.each([
    ['whose', { target: 'x' }, echo],
    ["which server's", { user: 'ada' }, echo],
    ['which of the servers of a program', { user: 'ada' }, { exchange: echo, url: 'stdio:node' }],
  ])('needs to know %s it is [SES-004]', async (_title, options, target) => {
    const session = await open(target, options).sessions.create()
    expect(() => session.serialize()).toThrow(expect.objectContaining({ code: 'unidentified' }))
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a list', []],
    ['no session', owner],
    ['a session that is none', { ...owner, session: { sessionId: 'a\r\nb' } }],
    [
      'members under __proto__',
      JSON.parse(`{"__proto__":${JSON.stringify({ ...owner, session: { sessionId: 'a' } })}}`),
    ],
  ])('is not made of %s', (_title, serialized) => {
    expect(() => open(echo, owner).sessions.resume(serialized)).toThrow(expect.objectContaining({ code: 'malformed' }))
  })
})
