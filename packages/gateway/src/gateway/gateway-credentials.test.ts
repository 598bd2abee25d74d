import { createServer as createHttpServer } from 'node:http'
import type { LogRecord } from '@x/core'
import type { Call, ConnectionPeer, HttpAuthorizer, HttpTarget, Principal } from '@x/exchange'
import { metaKeys, protocolVersion } from '@x/schema'
import { httpHandler } from '@x/transport-http'
import { connectHttp } from '@x/transport-http/client'
import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import type { GatewayOptions, GatewayUpstreamOptions, UpstreamCaller } from '../index.ts'
import { callOf, createGateway, errorOf, namesIn, resultOf } from '../testing/gateway-kit.ts'
import { createRequest, createScriptedUpstream, olderOverHttp } from '../testing/scripted-upstream.ts'

const secret = 'canary-token-of-a-caller'
const target: HttpTarget = {
  url: new URL('https://crm.example/mcp'),
  method: 'POST',
  signal: new AbortController().signal,
}
const failing = (code: string): HttpAuthorizer => ({
  headers: () => Promise.reject(Object.assign(new Error(`refused ${secret}`), { code })),
  onResponse: () => undefined,
})
const working: HttpAuthorizer = { headers: () => ({}), onResponse: () => undefined }

/** An upstream whose connections call their authorizer first, like those over HTTP. The token of mallory is refused. */
function createProtected(peer?: ConnectionPeer, code = 'token_rejected'): GatewayUpstreamOptions {
  const upstream = createScriptedUpstream(peer === undefined ? {} : { peer })
  const refused = failing(code)
  const connect = ({ auth }: UpstreamCaller) => {
    const connection = upstream.connect()
    const { exchange } = connection
    return Object.defineProperty(connection, 'exchange', {
      value: async (...[request, call]: Parameters<typeof exchange>) => {
        await auth?.headers(target)
        return exchange(request, call)
      },
    })
  }
  const credential = (principal: Principal | undefined): HttpAuthorizer =>
    principal?.subject === 'mallory' ? refused : working
  return { ...upstream, connect, credential }
}

const call = (server: Parameters<typeof resultOf>[0], caller: Call): Promise<object> =>
  resultOf(server, 'tools/call', { name: 'crm__greet', arguments: {} }, caller)
const refusal = (server: Parameters<typeof resultOf>[0], caller: Call): Promise<object> =>
  errorOf(server, 'tools/call', { name: 'crm__greet', arguments: {} }, caller)

test('a credential that does not come in time leaves the upstream out of a list, and is no failure of it', async () => {
  const clock = manualClock()
  const records: LogRecord[] = []
  const crm = createScriptedUpstream()
  const credential = () => new Promise<never>(() => {})
  const server = createGateway(
    { crm: { ...crm, credential } },
    { runtime: clock, log: (record) => void records.push(record) },
  )
  const list = resultOf(server, 'tools/list')
  await expect.poll(() => clock.waiting).toBeGreaterThan(0)
  clock.advance(5000)
  expect(namesIn(await list, 'tools')).toEqual([])
  const cause = { message: 'The credential of the caller took longer than 5000 ms' }
  expect(records).toMatchObject([{ level: 'error', name: 'crm', method: 'tools/list', err: { cause } }])
  expect([crm.arrived, server.upstreams.get('crm')?.state.status]).toEqual([[], 'connecting'])
  await server.close()
})

function create(upstreams: GatewayOptions['upstreams']) {
  const records: LogRecord[] = []
  return { records, server: createGateway(upstreams, { log: (record) => void records.push(record) }) }
}

describe('a caller whose credential is refused', () => {
  const peers: [string, ConnectionPeer | undefined][] = [
    ['of 2026-07-28', undefined],
    ['of an older revision', olderOverHttp],
  ]
  test.each(peers)('does not make an upstream %s unreachable for others [GWY-007]', async (_, peer) => {
    const { server } = create({ crm: createProtected(peer) })
    for (let attempt = 0; attempt < 4; attempt += 1) await refusal(server, callOf('mallory'))
    expect(String(server.upstreams.get('crm')?.state.reason)).not.toMatch(/unreachable/)
    expect(await call(server, callOf('ada'))).toHaveProperty('content')
    await server.close()
  })

  test('does not decide the first calls of others, which wait for the description of the upstream', async () => {
    const { server } = create({ crm: createProtected(olderOverHttp) })
    const [refused, ...answers] = await Promise.all([
      refusal(server, callOf('mallory')),
      ...['ada', 'grace', 'joan'].map((subject) => call(server, callOf(subject))),
    ])
    expect(refused).toMatchObject({ data: { reason: 'credential' } })
    for (const answer of answers) expect(answer).toHaveProperty('content')
    await server.close()
  })

  test('receives an error without the cause, which is in the log [GWY-003]', async () => {
    const { server, records } = create({ crm: createProtected() })
    const error = await refusal(server, callOf('mallory'))
    expect(error).toEqual({
      code: -32603,
      message: 'Upstream "crm" cannot be called: no credential of the caller could be obtained',
      data: { upstream: 'crm', reason: 'credential', begun: false },
    })
    expect(JSON.stringify(error)).not.toContain(secret)
    const [record] = records
    expect([records.length, record?.name, record?.method]).toEqual([1, 'crm', 'tools/call'])
    await server.close()
  })

  test('reads the lists of the other upstreams', async () => {
    const { server } = create({ crm: createProtected(), notes: createProtected(), open: createScriptedUpstream() })
    for (let attempt = 0; attempt < 4; attempt += 1)
      expect(namesIn(await resultOf(server, 'tools/list', {}, callOf('mallory')), 'tools')).toEqual([])
    expect(Array.from(server.upstreams.values(), ({ state }) => String(state.reason)).join()).not.toMatch(/unreachable/)
    await server.close()
  })
})

test.each([
  [
    'throws',
    () => {
      throw new Error(secret)
    },
  ],
  ['rejects', () => Promise.reject(new Error(secret))],
])('a source of credentials that %s has the same error', async (_, credential) => {
  const { server, records } = create({ crm: { ...createProtected(), credential } })
  const error = await refusal(server, callOf('ada'))
  expect(error).toMatchObject({ data: { upstream: 'crm', reason: 'credential' } })
  expect(JSON.stringify(error)).not.toContain(secret)
  expect(records).toHaveLength(1)
  for (let attempt = 0; attempt < 4; attempt += 1) await resultOf(server, 'tools/list', {}, callOf('ada'))
  expect(server.upstreams.get('crm')?.state.status).toBe('connecting')
  await server.close()
})

test('a caller whose issuer cannot be reached is asked to try again', async () => {
  const { server } = create({ crm: createProtected(undefined, 'server_unavailable') })
  expect(await refusal(server, callOf('mallory'))).toMatchObject({ data: { reason: 'credential', retryAfterMs: 2000 } })
  await server.close()
})

describe('a caller whose login has ended', () => {
  const url = new URL('https://gateway.example/login?login=sealed')
  const ended: HttpAuthorizer = {
    headers: () => Promise.reject(Object.assign(new Error('log in'), { code: 'authorization_needed', url })),
    onResponse: () => undefined,
  }
  const meta = { [metaKeys.clientCapabilities]: { elicitation: { url: {} } } }

  test('is asked to log in again without an error', async () => {
    const { server, records } = create({ crm: { ...createProtected(), credential: () => ended } })
    const request = createRequest('tools/call', { name: 'crm__greet', arguments: {} })
    const params = { ...request.params, _meta: { ...Object(request.params?.['_meta']), ...meta } }
    const asked = await server.exchange({ ...request, params }, callOf('ada'))
    const question = { method: 'elicitation/create', params: { mode: 'url', url: url.href } }
    expect(asked).toMatchObject({
      result: { resultType: 'input_required', inputRequests: { 'gateway.login': question } },
    })
    expect(asked).not.toHaveProperty('result.requestState')
    expect([records, server.upstreams.get('crm')?.state.status]).toEqual([[], 'connecting'])
    await server.close()
  })

  test('receives the login tool, and no failure of the upstream', async () => {
    const { server } = create({
      crm: { ...createProtected(), credential: () => ended },
      open: createScriptedUpstream(),
    })
    for (let attempt = 0; attempt < 4; attempt += 1)
      expect(namesIn(await resultOf(server, 'tools/list', {}, callOf('ada')), 'tools')).toContain('crm__login')
    expect(String(server.upstreams.get('crm')?.state.reason)).not.toMatch(/unreachable/)
    await server.close()
  })
})

test('a credential that the upstream refuses with 401 does not make it unreachable for others [GWY-007]', async () => {
  const refusing = createHttpServer((_, response) => response.writeHead(401).end())
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
  const address = refusing.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp`
  const connect = ({ auth }: UpstreamCaller) => connectHttp(url, { auth })
  const { server } = create({ crm: { connect, credential: () => working } })
  for (let attempt = 0; attempt < 4; attempt += 1)
    expect(await refusal(server, callOf('mallory'))).toMatchObject({ data: { reason: 'credential' } })
  expect(String(server.upstreams.get('crm')?.state.reason)).not.toMatch(/unreachable/)
  await server.close()
  refusing.close()
})

test.each([
  ['a header that differs from the body', { 'mcp-name': 'other__add' }],
  ['no version', { 'mcp-protocol-version': null }],
  ['an older version, whose headers repeat nothing', { 'mcp-protocol-version': '2025-03-26' }],
])('a request with %s gets an HTTP error, and reaches no upstream [SHT-076 SHT-077]', async (_, changed) => {
  const upstream = createScriptedUpstream()
  const server = createGateway({ crm: { connect: upstream.connect } })
  const params = { name: 'crm__add', arguments: {}, _meta: { [metaKeys.protocolVersion]: protocolVersion } }
  const headers = new Headers({
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': protocolVersion,
    'mcp-method': 'tools/call',
    'mcp-name': 'crm__add',
  })
  for (const [name, value] of Object.entries(changed)) {
    if (value === null) headers.delete(name)
    else headers.set(name, value)
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const response = await httpHandler(server)(new Request('http://localhost/mcp', { method: 'POST', headers, body }))
  expect(response.status).toBe(400)
  expect(upstream.arrived).toEqual([])
  await server.close()
})
