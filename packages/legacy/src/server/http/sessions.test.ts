import { randomBytes } from 'node:crypto'
import type { LogRecord } from '@x/core'
import { clientAddressKey, transportKey } from '@x/exchange'
import { createServer, sealedState, tool } from '@x/server'
import { memoryStore, singleUseState, type StateCodec } from '@x/state-codec'
import { httpHandler } from '@x/transport-http'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRpcRequest, createScriptedClient } from '../../testing/scripted-client.ts'
import { collectWarnings, createLegacyServer } from '../../testing/serve-legacy.ts'
import { legacy } from '../legacy.ts'
import type { LegacyOptions } from '../session/options.ts'

const greet = tool('greet', { description: 'Greets', run: () => 'Hello' })
const never = tool('never', { description: 'Never ends', run: () => new Promise<string>(() => {}) })

function serve(
  options: LegacyOptions = {},
  { now = (): number => Date.now(), state }: { readonly now?: () => number; readonly state?: StateCodec } = {},
) {
  const warnings: LogRecord[] = []
  const log = collectWarnings(warnings)
  const server = createLegacyServer({ tools: [greet, never], log, ...(state && { state }) }, options, { now })
  const handler = httpHandler(server, {
    auth: (view) => {
      const subject = view.header('x-subject')
      return subject === undefined ? undefined : { subject }
    },
    allowedOrigins: ['https://app.example'],
  })
  return {
    server,
    warnings,
    connect: (headers = {}, revision = '2025-11-25') => createScriptedClient(handler, revision, headers),
  }
}

test('a codec whose tokens open once seals a session that two instances open again and again [LEG-087]', async () => {
  const store = memoryStore()
  const codec = sealedState({ keys: [randomBytes(32)] })
  const instances = [1, 2].map(() => serve({}, { state: singleUseState(codec, store) }))
  const [one, other] = instances.map(({ connect }) => connect())
  await one?.initialize()
  const session = { 'mcp-session-id': one?.sessionId }
  for (const client of [one, other, one, other])
    expect(await client?.post(createRpcRequest('tools/list'), session)).toMatchObject({ status: 200 })
})

test('a handler sees the client of a session as it described itself [LEG-013 LEG-089]', async () => {
  const look = tool('look', { description: 'Shows the client', run: (_, ctx) => JSON.stringify(ctx.client) })
  const client = createScriptedClient(httpHandler(createLegacyServer({ tools: [look] })), '2025-06-18')
  const described = {
    name: 'codex',
    version: '1',
    title: 'Codex',
    description: 'Codes',
    websiteUrl: 'https://a.example',
  }
  await client.initialize({ clientInfo: { ...described, icons: [{ src: 'data:,' }], other: 1 } })
  const { result } = await client.request('tools/call', { name: 'look', arguments: {} })
  const seen = { version: '2025-06-18', info: described, capabilities: {} }
  expect(result).toEqual({ content: [{ type: 'text', text: JSON.stringify(seen) }] })
  await client.initialize({ clientInfo: { ...described, title: 'x'.repeat(5000) } })
  const { result: short } = await client.request('tools/call', { name: 'look', arguments: {} })
  expect(JSON.stringify(short)).not.toContain('title')
})

test('the error for a method that the server does not have names every revision that it speaks', async () => {
  const client = createScriptedClient(httpHandler(createLegacyServer({ tools: [greet] })))
  await client.initialize()
  const supported = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
  expect(await client.request('prompts/list')).toMatchObject({
    error: { message: expect.stringContaining(supported.join(', ')), data: { supported } },
  })
})

test('a session id is good for its principal alone; one answer to every other [LEG-086]', async () => {
  const { connect, warnings } = serve()
  const ada = connect({ 'x-subject': 'ada' })
  await ada.initialize()
  const id = ada.sessionId ?? ''
  const bodies: unknown[] = []
  const middle = Math.floor(id.length / 2)
  const altered = `${id.slice(0, middle)}${id[middle] === 'A' ? 'B' : 'A'}${id.slice(middle + 1)}`
  const strangers = [
    [{ 'x-subject': 'grace' }, id],
    [{}, id],
    [{ 'x-subject': 'ada' }, altered],
    [{ 'x-subject': 'ada' }, 'made-up'],
    [{ 'x-subject': 'ada' }, 'x'.repeat(10_000)],
    [{ 'x-subject': 'ada' }, ''],
  ] as const
  for (const [headers, session] of strangers) {
    const client = connect(headers)
    const { status, json } = await client.post(createRpcRequest('ping'), { 'mcp-session-id': session })
    bodies.push(json)
    expect(status).toBe(404)
    expect((await client.get({ 'mcp-session-id': session })).status).toBe(404)
    expect((await client.end({ 'mcp-session-id': session })).status).toBe(404)
  }
  expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
  expect(bodies[0]).toMatchObject({ error: { code: -32001 } })
  expect(new Set(warnings.map(({ code }) => code))).toEqual(new Set(['session_rejected']))
  expect(JSON.stringify(warnings)).not.toContain(id)
  expect(await ada.request('ping')).toMatchObject({ result: {} })
})

test('a session ends after its time [LEG-088]', async () => {
  let time = Date.now()
  const { connect } = serve({ sessionTtlMs: 60_000 }, { now: () => time })
  const client = connect()
  await client.initialize()
  expect((await client.post(createRpcRequest('ping'))).status).toBe(200)
  time += 60_000
  expect((await client.post(createRpcRequest('ping'))).status).toBe(404)
})

test('DELETE ends a session and what runs for it [LEG-045 LEG-047 LEG-088]', async () => {
  const { connect } = serve()
  const client = connect()
  await client.initialize()
  const listening = await client.get()
  const call = client.post(createRpcRequest('tools/call', { name: 'never', arguments: {} }))
  await client.request('ping')
  const { status, json } = await client.end()
  expect([status, json]).toEqual([204, undefined])
  expect(await listening.readEvent()).toBeUndefined()
  await call
  expect((await client.post(createRpcRequest('ping'))).status).toBe(404)
  expect((await client.end()).status).toBe(404)
})

test('GET and DELETE without a session are not allowed [LEG-044]', async () => {
  const client = serve().connect()
  expect((await client.get()).status).toBe(405)
  expect((await client.end()).status).toBe(405)
})

test('every check of the transport holds for older clients: origin, host, media types [LEG-019 LEG-020]', async () => {
  const { connect } = serve()
  const client = connect()
  await client.initialize()
  const foreign = { origin: 'https://evil.example' }
  expect((await client.post(createRpcRequest('ping'), foreign)).status).toBe(403)
  expect((await client.get(foreign)).status).toBe(403)
  expect((await client.end(foreign)).status).toBe(403)
  expect((await client.end({ host: 'evil.example' })).status).toBe(403)
  expect((await client.post(createRpcRequest('ping'), { accept: 'application/json' })).status).toBe(406)
  expect((await client.post(createRpcRequest('ping'), { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await client.get({ accept: 'application/json' })).status).toBe(406)
  expect((await client.post(createRpcRequest('ping'))).status).toBe(200)
})

test('pages of an allowed origin may use the methods and read the session [LEG-018]', async () => {
  const server = createLegacyServer({ tools: [greet] })
  const handler = httpHandler(server, { allowedOrigins: ['https://app.example'] })
  const ask = new Request('http://localhost/mcp', {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'DELETE',
      'access-control-request-headers': 'mcp-session-id, last-event-id',
    },
  })
  const preflight = await handler(ask)
  expect(preflight.headers.get('access-control-allow-methods')).toBe('POST, GET, DELETE')
  expect(preflight.headers.get('access-control-allow-headers')).toBe('mcp-session-id, last-event-id')
  const client = createScriptedClient(handler, '2025-11-25', { origin: 'https://app.example' })
  const { headers } = await client.post(
    createRpcRequest('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'p', version: '1' },
    }),
  )
  expect(headers.get('access-control-expose-headers')).toContain('Mcp-Session-Id')
  expect(headers.get('access-control-allow-origin')).toBe('https://app.example')
})

test('capabilities that are too large for an id are left out, or refused', async () => {
  const { connect, warnings } = serve()
  const client = connect()
  const experimental = { big: { text: 'x'.repeat(5000) } }
  await client.initialize({ capabilities: { experimental } })
  expect((client.sessionId ?? '').length).toBeLessThan(1000)
  const clientInfo = { name: 'x'.repeat(10_000), version: '1' }
  await expect(client.initialize({ clientInfo })).rejects.toThrow('too large')
  await client.initialize({ clientInfo: { name: 'x'.repeat(1500), version: '1' } })
  expect(warnings.map(({ code }) => code)).toEqual(['large_session'])
})

test('200 GET streams of one caller do not exceed its limit [LEG-091]', async () => {
  const server = createLegacyServer({ tools: [greet], limits: { streams: 100 } })
  const handler = httpHandler(server, { auth: () => ({ subject: 'ada' }) })
  const statuses: number[] = []
  for (let stream = 0; stream < 200; stream += 1) {
    const client = createScriptedClient(handler)
    await client.initialize()
    statuses.push((await client.get()).status)
  }
  expect([statuses.filter((status) => status === 200).length, new Set(statuses)]).toEqual([100, new Set([200, 429])])
})

test('an answer at an instance that did not ask gets 400, and the log says what to change [LEG-023]', async () => {
  const state = sealedState({ keys: [randomBytes(32)] })
  const asking = serve({}, { state }).connect()
  await asking.initialize({ capabilities: { elicitation: {} } })
  const { connect, warnings } = serve({}, { state })
  const headers = { 'mcp-session-id': asking.sessionId }
  const { status } = await connect().post({ jsonrpc: '2.0', id: 'q', result: { action: 'decline' } }, headers)
  expect([status, warnings]).toMatchObject([
    400,
    [{ code: 'unknown_answer', message: expect.stringContaining('hash the header') }],
  ])
})

test('keys that changed end the sessions of their time, and a new one begins [LEG-087]', async () => {
  const [first, second] = [randomBytes(32), randomBytes(32)]
  const before = serve({}, { state: sealedState({ keys: [first] }) }).connect()
  await before.initialize()
  const headers = { 'mcp-session-id': before.sessionId }
  const rotated = serve({}, { state: sealedState({ keys: [second, first] }) }).connect()
  expect((await rotated.post(createRpcRequest('ping'), headers)).status).toBe(200)
  const replaced = serve({}, { state: sealedState({ keys: [second] }) }).connect()
  expect((await replaced.post(createRpcRequest('ping'), headers)).status).toBe(404)
})

test('a server without a key says that its sessions are those of one process', () => {
  const about = { name: 'all-revisions', version: '1.0.0', extensions: [legacy()] }
  expect(createServer({ ...about, state: false }).singleProcess).toContain('give the server a `state`')
  const state = sealedState({ keys: [randomBytes(32)] })
  expect(createServer({ ...about, state }).singleProcess).toBeUndefined()
})

test('calls of older clients have the principal, the transport and the address of their caller', async () => {
  const seen: unknown[] = []
  const who = tool('who', {
    description: 'Notes who calls',
    run: (_, ctx) => {
      seen.push([ctx.principal?.subject, ctx.context.get(transportKey), ctx.context.get(clientAddressKey)])
      return 'noted'
    },
  })
  const server = createLegacyServer({ tools: [who] })
  const handler = httpHandler(server, {
    auth: () => ({ subject: 'ada' }),
    clientAddress: () => '192.0.2.7',
  })
  const client = createScriptedClient(handler)
  await client.initialize()
  await client.request('tools/call', { name: 'who', arguments: {} })
  expect(seen).toEqual([['ada', 'http', '192.0.2.7']])
})

test('any other text as a session id is answered as an unknown session, and never with more than that', async () => {
  const { connect } = serve()
  const ada = connect()
  await ada.initialize()
  const real = ada.sessionId ?? ''
  const nearly = fc
    .tuple(fc.nat(real.length - 1), fc.constantFrom('', 'A', '.', '=', '%', 'AAAA'))
    .map(([at, text]) => real.slice(0, at) + text + real.slice(at + 1))
  const long = fc
    .tuple(fc.constantFrom('A', '.', '=', '{'), fc.integer({ min: 1, max: 5000 }))
    .map(([a, n]) => a.repeat(n))
  const visible = fc.string({ unit: fc.constantFrom(...'!"#%&()*+,-./0:;<=>?@AZ[]^_`az{|}~'), minLength: 1 })
  const property = fc.asyncProperty(fc.oneof(nearly, long, visible), async (id) => {
    if (id === real) return
    const { status, json } = await connect().post(createRpcRequest('tools/list'), { 'mcp-session-id': id })
    expect([400, 404]).toContain(status)
    expect(JSON.stringify(json).length).toBeLessThan(500)
  })
  await fc.assert(property, { numRuns: 100 })
})
