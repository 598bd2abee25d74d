import type { LogRecord } from '@x/core'
import { type Call, callHeadersKey, createCall, headerParamsKey, transportKey, withContext } from '@x/exchange'
import type { RpcNotification, RpcResponse } from '@x/schema'
import { createServer, tool } from '@x/server'
import { describe, expect, test } from 'vitest'
import { proxy, type ProxyOptions } from '../index.ts'
import {
  answerPlainly,
  type ArrivedRequest,
  createRequest,
  createScriptedUpstream,
  createToolCall,
  olderOverStdio,
  type UpstreamScript,
} from '../testing/scripted-upstream.ts'

function create(script: UpstreamScript, more: Partial<ProxyOptions> = {}) {
  const records: LogRecord[] = []
  const upstream = createScriptedUpstream(script)
  const log = (record: LogRecord): void => void records.push(record)
  return { upstream, records, server: proxy(upstream, { name: 'crm', version: '1.0.0', log, ...more }) }
}

const noAnswerOf = (begun: boolean, effect: string, reason = '') => ({
  error: {
    code: -32603,
    message: `Upstream "crm" gave no answer${reason}: ${effect}`,
    data: { upstream: 'crm', begun },
  },
})
const noAnswer = noAnswerOf(true, 'the request may have had an effect')
const notBegun = noAnswerOf(false, 'the request has had no effect', ' (its connection could not be created)')
const notReceived = noAnswerOf(false, 'the request has had no effect', ' (nothing listens at its address)')

test('no principal, address, header or other value of a host is forwarded, except the headers that repeat the body [GWY-002 GWY-009]', async () => {
  const { upstream, server } = create({})
  const headers = new Map([
    ['Mcp-Name', 'greet'],
    ['Mcp-Session-Id', 'of the data layer'],
    ['Mcp-Token', 'secret'],
  ])
  const plain = createCall({ principal: { subject: 'ada', claims: { token: 'secret' } } })
  const withHeaders = withContext(withContext(plain, callHeadersKey, headers), transportKey, 'http')
  const call = withContext(withHeaders, headerParamsKey, new Map([['Region', 'eu']]))
  await server.exchange(createToolCall(), call)
  const { context, principal } = upstream.arrived[0]?.call ?? createCall()
  const sent: string[] = []
  context.get(callHeadersKey)?.forEach((value, name) => sent.push(`${name}: ${value}`))
  context.get(headerParamsKey)?.forEach((value, name) => sent.push(`${name}: ${value}`))
  expect(sent).toEqual(['Mcp-Name: greet', 'Mcp-Session-Id: of the data layer', 'Region: eu'])
  expect([principal, context.get(transportKey)]).toEqual([undefined, undefined])
  await server.close()
})

describe('the error of a failed upstream contains its name, and the cause is in the log [GWY-003]', () => {
  const fail = (message: string) => (): Promise<never> => Promise.reject(new Error(message))
  const refuse = (): Promise<never> =>
    Promise.reject(Object.assign(new Error('secret'), { code: 'refused', mayHaveRun: false }))
  test.each<[string, UpstreamScript, object]>([
    ['that gives no answer', { answer: fail('reset by https://user:secret@host') }, noAnswer],
    ['that receives nothing', { answer: refuse }, notReceived],
    ['that exits while it runs the call', { peer: olderOverStdio, answer: fail('exited with secret') }, noAnswer],
    ['whose address is http: and not on this machine', { url: 'http://198.51.100.7/mcp' }, notBegun],
    ['whose address has a password', { url: 'https://ada:secret@mcp.example.com/mcp' }, notBegun],
  ])('%s', async (_, script, expected) => {
    const { server, records } = create(script)
    const response = await server.exchange(createToolCall(), createCall())
    expect(response).toMatchObject(expected)
    expect(JSON.stringify(response)).not.toContain('secret')
    expect(records).toMatchObject([{ level: 'error', name: 'crm' }])
    await server.close()
  })

  test('that cannot be opened, and can be opened at the next call', async () => {
    const upstream = createScriptedUpstream()
    let attempts = 0
    const connect = () => {
      attempts += 1
      if (attempts === 1) throw new TypeError('no such program')
      return upstream.connect()
    }
    const server = proxy({ connect }, { name: 'crm', version: '1.0.0', log: () => {} })
    expect(await server.exchange(createToolCall(), createCall())).toMatchObject(notBegun)
    expect(await server.exchange(createToolCall(), createCall())).toHaveProperty('result')
    await server.close()
  })

  test.each([
    ['a complete result', { resultType: 'complete', content: 'text' }],
    ['questions', { resultType: 'input_required', inputRequests: { q: { method: 'tools/call' } } }],
  ])('that gives %s of another type [GWY-005]', async (_, result) => {
    const answer = async ({ request: { id } }: ArrivedRequest): Promise<RpcResponse> => ({ jsonrpc: '2.0', id, result })
    const { server, records } = create({ answer })
    const message = 'Upstream "crm" gave an invalid result'
    expect(await server.exchange(createToolCall(), createCall())).toMatchObject({ error: { code: -32603, message } })
    expect(records).toMatchObject([{ level: 'warn', code: 'invalid_result' }])
    await server.close()
  })
})

test('a list is forwarded without its invalid items, and the log names the first', async () => {
  const page = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
  const tools = [{ name: 'a', inputSchema: { type: 'object' } }, { name: 'b' }]
  const answer = async ({ request: { id } }: ArrivedRequest): Promise<RpcResponse> => ({
    jsonrpc: '2.0',
    id,
    result: { ...page, tools },
  })
  const { server, records } = create({ answer })
  const response = await server.exchange(createRequest('tools/list'), createCall())
  expect(response).toMatchObject({ result: { tools: [{ name: 'a' }] } })
  expect(records).toMatchObject([{ level: 'warn', code: 'invalid_result', method: 'tools/list', name: 'crm' }])
  expect(records[0]).toHaveProperty('message', expect.stringContaining('.tools[1].inputSchema'))
  await server.close()
})

test('a result of a type of an extension and an error with its data are forwarded', async () => {
  const results = [{ resultType: 'com.example/later', id: 1 }, undefined]
  const error = { code: -31_000, message: 'no such moon', data: { moon: 'ix' } }
  const answer = async ({ request: { id } }: ArrivedRequest): Promise<RpcResponse> => {
    const result = results.shift()
    return result === undefined ? { jsonrpc: '2.0', id, error } : { jsonrpc: '2.0', id, result }
  }
  const { server } = create({ answer })
  expect(await server.exchange(createToolCall(), createCall())).toMatchObject({ result: { id: 1 } })
  expect(await server.exchange(createToolCall(), createCall())).toEqual({ jsonrpc: '2.0', id: 1, error })
  await server.close()
})

test('a call to an upstream that is silent for half an hour is cancelled, and a call that reports progress is not', async () => {
  const timers: (() => void)[] = []
  let now = 0
  const runtime = {
    monotonicNow: () => now as never,
    setTimeout: (run: () => void) => timers.push(run),
    clearTimeout: () => {},
  }
  const calls: ArrivedRequest[] = []
  const answer = (arrived: ArrivedRequest) =>
    new Promise<RpcResponse>((_, reject) => {
      calls.push(arrived)
      arrived.call.signal.addEventListener('abort', () => reject(arrived.call.signal.reason))
    })
  const { server } = create({ answer }, { runtime })
  const heard: string[] = []
  const silent = server.exchange(createToolCall(), createCall())
  await expect.poll(() => calls.length).toBe(1)
  const busy = server.exchange(createToolCall(), createCall({ notify: ({ method }) => heard.push(method) }))
  await expect.poll(() => calls.length).toBe(2)
  const advance = (ms: number): void => {
    now += ms
    for (const run of timers.splice(0)) run()
  }
  advance(20 * 60_000)
  const progress: RpcNotification = { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } }
  calls[1]?.call.notify(progress)
  calls[1]?.call.notify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } })
  advance(10 * 60_000)
  const message = 'Upstream "crm" gave no answer within 1800000 ms: the request may have had an effect'
  expect(await silent).toMatchObject({ error: { message, data: { upstream: 'crm' } } })
  expect([calls[1]?.call.signal.aborted, heard]).toEqual([false, ['notifications/progress']])
  advance(30 * 60_000)
  expect(await busy).toMatchObject({ error: { message } })
  await server.close()
})

test('a call that its host cancels is cancelled at the upstream, and rejects with the reason of the host', async () => {
  let upstreamCall: Call | undefined
  const answer = ({ call }: ArrivedRequest) =>
    new Promise<RpcResponse>((_, reject) => {
      upstreamCall = call
      call.signal.addEventListener('abort', () => reject(new Error('cancelled here')))
    })
  const { server } = create({ answer })
  const controller = new AbortController()
  const ended = server.exchange(createToolCall(), createCall({ signal: controller.signal }))
  await expect.poll(() => upstreamCall).toBeDefined()
  controller.abort('the user pressed stop')
  await expect(ended).rejects.toBe('the user pressed stop')
  expect(upstreamCall?.signal.reason).toBe('the user pressed stop')
  await server.close()
})

test('headers that repeat arguments are created for a host that sends none, after the server has rejected the request', async () => {
  const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } }
  const pages: Record<string, object> = {
    first: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: [], nextCursor: 'second' },
    second: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: [{ name: 'greet', inputSchema }] },
  }
  const answer = async ({ request, call }: ArrivedRequest): Promise<RpcResponse> => {
    const { id, method, params } = request
    if (method === 'tools/list')
      return { jsonrpc: '2.0', id, result: { ...pages[String(params?.['cursor'] ?? 'first')] } }
    if (call.context.get(headerParamsKey)?.get('Region') === 'eu') return answerPlainly(request, call)
    return { jsonrpc: '2.0', id, error: { code: -32020, message: 'Mcp-Param-Region is missing' } }
  }
  const { upstream, server } = create({ answer })
  const call = createToolCall({ arguments: { region: 'eu' } })
  expect(await server.exchange(call, createCall())).toHaveProperty('result')
  expect(await server.exchange(call, createCall())).toHaveProperty('result')
  const methods = upstream.arrived.map(({ request: { method } }) => method)
  expect(methods).toEqual(['tools/call', 'tools/list', 'tools/list', 'tools/call', 'tools/call'])
  const sent = withContext(createCall(), headerParamsKey, new Map([['Region', 'us']]))
  expect(await server.exchange(call, sent)).toMatchObject({ error: { code: -32020 } })
  await server.close()
})

test('the parameters that headers repeat are bounded together, so that no upstream refuses the request', async () => {
  const { upstream, server } = create({})
  const params = new Map(Array.from({ length: 7 }, (_, index) => [`P${index}`, 'x'.repeat(1000)] as const))
  const response = await server.exchange(createToolCall(), withContext(createCall(), headerParamsKey, params))
  expect(response).toMatchObject({ error: { code: -32602, message: expect.stringContaining('send at most 6144') } })
  expect(upstream.arrived).toEqual([])
  await server.close()
})

test.each([
  ['tasks/get', { taskId: 'task-1' }, 'task-1'],
  ['tasks/update', { taskId: 'task-1' }, 'task-1'],
  ['tasks/cancel', { taskId: 'täsk' }, '=?base64?dMOkc2s=?='],
  ['skills/get', { uri: 'skill://a/SKILL.md' }, 'skill://a/SKILL.md'],
  ['resources/directory/read', { uri: 'skill://a/' }, 'skill://a/'],
  ['com.example/moon', { name: 'ix' }, undefined],
])('%s of a host without headers gets the header that names its target', async (method, params, name) => {
  const { upstream, server } = create({})
  await server.exchange(createRequest(method, params), createCall())
  expect(upstream.arrived[0]?.call.context.get(callHeadersKey)?.get('Mcp-Name')).toBe(name)
  await server.close()
})

describe('a server in the same process', () => {
  const greet = tool('greet', { description: 'Greets', run: (_, ctx) => `Hello, ${ctx.principal?.subject ?? 'you'}!` })

  test('receives the principal, and closes with its last host', async () => {
    let closes = 0
    const upstream = createServer({
      name: 'crm',
      version: '1.0.0',
      tools: [greet],
      state: false,
      close: () => void (closes += 1),
    })
    const server = proxy(upstream, { name: 'crm', version: '1.0.0' })
    const response = await server.exchange(createToolCall(), createCall({ principal: { subject: 'ada' } }))
    expect(JSON.stringify(response)).toContain('Hello, ada!')
    expect(await server.exchange(createRequest('server/discover'), createCall())).toMatchObject({
      result: { supportedVersions: ['2026-07-28'], _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'crm' } } },
    })
    const release = upstream.attachHost()
    await server.close()
    expect(closes).toBe(0)
    await release()
    expect(closes).toBe(1)
  })

  test('sets `localOnly` of the proxy, and a proxy of a connection is for this machine only', () => {
    const upstream = createServer({ name: 'crm', version: '1.0.0', tools: [greet] })
    expect(proxy(upstream, { name: 'crm', version: '1.0.0' }).localOnly).toBe(upstream.localOnly)
    expect(create({}).server).toMatchObject({ needsPrincipal: true, localOnly: undefined })
  })
})

test('an unknown option is refused', () => {
  const unknown: ProxyOptions & { readonly sharing: string } = { name: 'a', version: '1', sharing: 'all' }
  expect(() => proxy(createScriptedUpstream(), unknown)).toThrow('sharing')
})
