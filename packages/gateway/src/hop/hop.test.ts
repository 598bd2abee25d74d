import { type Call, type ConnectionState, clientSessionKey, createCall, withContext } from '@x/exchange'
import { metaKeys, type RpcResponse } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { proxy, type ProxyOptions } from '../index.ts'
import { createGateway } from '../testing/gateway-kit.ts'
import {
  answerPlainly,
  type ArrivedRequest,
  createRequest,
  createScriptedUpstream,
  createToolCall,
  olderOverHttp,
  olderOverStdio,
  type ScriptedUpstream,
  type UpstreamScript,
} from '../testing/scripted-upstream.ts'

const options: ProxyOptions = { name: 'crm', version: '1.0.0', log: () => {} }

function create(script: UpstreamScript, more: Partial<ProxyOptions> = {}) {
  const upstream = createScriptedUpstream(script)
  return { upstream, server: proxy(upstream, { ...options, ...more }) }
}

const callOf = (subject: string): Call => createCall({ principal: { subject } })
const inSession = (session: string): Call => withContext(createCall(), clientSessionKey, session)

/** An upstream that asks one question in each call, and returns the answer. */
async function askOnce({ request, connection }: ArrivedRequest): Promise<RpcResponse> {
  const { id, params } = request
  if (params?.['inputResponses'] === undefined) {
    const question = {
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
    }
    const requestState = `state-${connection}-${String(params?.['arguments'] && JSON.stringify(params['arguments']))}`
    return {
      jsonrpc: '2.0',
      id,
      result: { resultType: 'input_required', inputRequests: { q: question }, requestState },
    }
  }
  const text = JSON.stringify(params['inputResponses'])
  return { jsonrpc: '2.0', id, result: { resultType: 'complete', content: [{ type: 'text', text }] } }
}

const stateOf = (response: RpcResponse): unknown => ('result' in response ? response.result['requestState'] : undefined)
const answered = (requestState: unknown, name: string) =>
  createToolCall({ requestState, inputResponses: { q: { action: 'accept', content: { name } } } })

test.each(['server/discover', 'tools/list', 'tools/call', 'subscriptions/listen'])(
  'a gateway rejects a %s of a revision that nobody knows and names its own [VER-001]',
  async (method) => {
    const _meta = { [metaKeys.protocolVersion]: '2099-01-01', [metaKeys.clientCapabilities]: {} }
    const server = createGateway({ crm: createScriptedUpstream() })
    const request = { jsonrpc: '2.0', id: 1, method, params: { name: 'crm__add', notifications: {}, _meta } } as const
    expect(await server.exchange(request, createCall())).toMatchObject({
      error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2099-01-01' } },
    })
    await server.close()
  },
)

test('a proxy rejects a request of a revision that nobody knows, also before an older upstream [VER-001]', async () => {
  const { server, upstream } = create({ peer: olderOverHttp })
  const _meta = { [metaKeys.protocolVersion]: '2099-01-01', [metaKeys.clientCapabilities]: {} }
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } } as const
  expect(await server.exchange(request, createCall())).toMatchObject({
    error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2099-01-01' } },
  })
  expect(upstream.arrived).toEqual([])
  await server.close()
})

describe('an older server behind one connection never serves two hosts [GWY-006]', () => {
  const hosts: readonly [string, readonly Call[]][] = [
    ['of four principals', ['ada', 'grace', 'joan', 'mary'].map(callOf)],
    ['of four sessions at one address', ['a', 'b', 'c', 'd'].map(inSession)],
  ]
  test.each(
    hosts.flatMap(([title, calls]) => [
      [title, 'stdio', olderOverStdio, calls] as const,
      [title, 'HTTP', olderOverHttp, calls] as const,
    ]),
  )('%s over %s', async (_title, _transport, peer, calls) => {
    const { upstream, server } = create({ peer, answer: askOnce })
    const questions = await Promise.all(calls.map((call) => server.exchange(createToolCall(), call)))
    const answers = await Promise.all(
      questions.map((question, index) =>
        server.exchange(answered(stateOf(question), `host ${index}`), calls[index] ?? createCall()),
      ),
    )
    for (const [index, answer] of answers.entries()) expect(JSON.stringify(answer)).toContain(`host ${index}`)
    expect(new Set(upstream.arrived.map(({ connection }) => connection)).size).toBe(4)
    await server.close()
    expect(upstream.closed.toSorted()).toEqual([1, 2, 3, 4])
  })

  test('of one name and one address: over stdio, each call that may ask has a separate connection', async () => {
    const { upstream, server } = create({ peer: olderOverStdio, answer: askOnce })
    const calls = [1, 2, 3, 4].map((number) => createToolCall({ arguments: { number } }))
    const questions = await Promise.all(calls.map((request) => server.exchange(request, createCall())))
    expect(new Set(upstream.arrived.map(({ connection }) => connection)).size).toBe(4)
    for (const [index, question] of questions.entries()) {
      const answer = await server.exchange(answered(stateOf(question), `host ${index}`), createCall())
      expect(JSON.stringify(answer)).toContain(`host ${index}`)
    }
    // The connections are free again, so that the next call opens none.
    await server.exchange(createToolCall(), createCall())
    expect(upstream.opened()).toBe(4)
    await server.close()
  })

  test('of one caller over HTTP, where a question names its call, share a connection', async () => {
    const { upstream, server } = create({ peer: olderOverHttp, answer: askOnce })
    await Promise.all(
      [1, 2, 3].map((number) => server.exchange(createToolCall({ arguments: { number } }), createCall())),
    )
    expect(upstream.opened()).toBe(1)
    await server.close()
  })

  test('that cannot be asked share a process, and a host of another name has a separate one', async () => {
    const { upstream, server } = create({ peer: olderOverStdio })
    await Promise.all([1, 2].map(() => server.exchange(createRequest('tools/list'), createCall())))
    expect(upstream.opened()).toBe(1)
    await server.exchange(createRequest('tools/list', {}, 'other'), createCall())
    expect(upstream.opened()).toBe(2)
    await server.close()
  })
})

test.each([olderOverStdio, olderOverHttp])(
  'a host has one connection, whatever its requests declare [GWY-025]',
  async (peer) => {
    const { upstream, server } = create({ peer })
    const declare = (method: string, capabilities: object) => {
      const request = createRequest(method, { name: 'greet', arguments: {} })
      const _meta = { ...Object(request.params?.['_meta']), [metaKeys.clientCapabilities]: capabilities }
      return server.exchange({ ...request, params: { ...request.params, _meta } }, createCall())
    }
    const elicitation = { form: {}, url: {} }
    await declare('resources/list', { elicitation })
    await declare('tools/call', { elicitation, extensions: { 'io.modelcontextprotocol/tasks': {} } })
    await declare('tools/list', {})
    await declare('tools/call', { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/ui': {} } })
    expect(upstream.opened()).toBe(1)
    // The handshake has promised fewer kinds of questions than this request can answer.
    await declare('tools/call', { elicitation, sampling: {} })
    expect(upstream.opened()).toBe(2)
    await server.close()
  },
)

test.each([
  ['another principal', callOf('grace')],
  ['no principal', createCall()],
  ['another session', inSession('b')],
])('a state belongs to its host: %s receives the error for unknown states [GWY-004]', async (_, thief) => {
  const { upstream, server } = create({ peer: olderOverStdio, answer: askOnce })
  const owner = withContext(callOf('ada'), clientSessionKey, 'a')
  const requestState = stateOf(await server.exchange(createToolCall(), owner))
  const error = { code: -32602, message: 'Invalid or expired requestState' }
  expect(await server.exchange(answered(requestState, 'thief'), thief)).toMatchObject({ error })
  expect(await server.exchange(answered('made up', 'thief'), owner)).toMatchObject({ error })
  expect(upstream.arrived).toHaveLength(1)
  expect(await server.exchange(answered(requestState, 'ada'), owner)).toHaveProperty('result')
  expect(await server.exchange(answered(requestState, 'ada'), owner)).toMatchObject({ error })
  await server.close()
})

test('hosts share the connection to a server of 2026-07-28, whose state is forwarded unchanged', async () => {
  for (const peer of [undefined, { revision: '2026-07-28' }] as const) {
    const { upstream, server } = create({ answer: askOnce, ...(peer && { peer }) })
    const question = await server.exchange(createToolCall(), callOf('ada'))
    await server.exchange(answered(stateOf(question), 'grace'), callOf('grace'))
    expect(upstream.opened()).toBe(1)
    expect(upstream.arrived.at(-1)?.request.params).toMatchObject({ requestState: stateOf(question) })
    await server.close()
    expect(upstream.closed).toEqual([1])
  }
})

test('a call that arrives before the revision is known waits for it, and one that is cancelled does not', async () => {
  const { upstream, server } = create({ peer: olderOverStdio })
  const controller = new AbortController()
  const cancelled = server.exchange(createToolCall(), createCall({ signal: controller.signal }))
  const waiting = server.exchange(createRequest('tools/list'), createCall())
  controller.abort(new Error('enough'))
  await expect(cancelled).rejects.toThrow('enough')
  expect(await waiting).toHaveProperty('result')
  expect(upstream.opened()).toBe(1)
  await server.close()
})

test('a caller has at most 16 connections: an idle connection is closed for a new one, and without one the call is refused', async () => {
  const { upstream, server } = create({ peer: olderOverStdio, answer: askOnce })
  const ask = (number: number) => server.exchange(createToolCall({ arguments: { number } }), callOf('ada'))
  const questions = await Promise.all(Array.from({ length: 16 }, (_, number) => ask(number)))
  expect(await ask(16)).toMatchObject({ error: { data: { reason: 'quota', limit: 'upstream_connections', max: 16 } } })
  expect(await server.exchange(createToolCall(), callOf('grace'))).toHaveProperty('result')
  await server.exchange(answered(stateOf(questions[3] ?? (await ask(3))), 'ada'), callOf('ada'))
  expect(await server.exchange(createToolCall({}, 'another host'), callOf('ada'))).toHaveProperty('result')
  expect(upstream.closed).toEqual([4])
  await server.close()
  expect(upstream.closed).toHaveLength(upstream.opened())
})

test('a connection that is idle for ten minutes is closed, and a call that waits that long is ended', async () => {
  const timers = new Map<number, { readonly run: () => void; readonly ms: number }>()
  let lastTimer = 0
  const runtime = {
    setTimeout: (run: () => void, ms: number) => {
      lastTimer += 1
      timers.set(lastTimer, { run, ms })
      return lastTimer
    },
    clearTimeout: (timer: unknown) => void timers.delete(Number(timer)),
  }
  const { upstream, server } = create({ peer: olderOverStdio, answer: askOnce }, { runtime })
  const question = await server.exchange(createToolCall(), createCall())
  const fire = (): void => {
    const due = Array.from(timers).filter(([, { ms }]) => ms === 600_000)
    for (const [timer, { run }] of due) if (timers.delete(timer)) run()
  }
  fire()
  expect(await server.exchange(answered(stateOf(question), 'late'), createCall())).toMatchObject({
    error: { code: -32602 },
  })
  expect(upstream.closed).toEqual([])
  fire()
  expect(upstream.closed).toEqual([1])
  await server.close()
})

test('a notification of an extension is forwarded to the connection of its caller, and those of the protocol are not', async () => {
  const { upstream, server } = create({
    peer: olderOverStdio,
    answer: ({ request, call }) => answerPlainly(request, call),
  })
  await server.exchange(createRequest('tools/list'), callOf('ada'))
  await server.exchange(createRequest('tools/list'), callOf('grace'))
  const seen = { jsonrpc: '2.0', method: 'com.example/seen' } as const
  server.receive(seen, callOf('grace'))
  server.receive(seen, callOf('joan'))
  server.receive({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }, callOf('ada'))
  expect(upstream.notifications).toEqual([{ connection: 2, notification: seen }])
  await server.close()
})

describe('a server that does not describe itself', () => {
  const hangs: UpstreamScript = { peer: olderOverStdio, describe: () => new Promise(() => {}) }
  const timersOf = () => {
    const timers = new Map<number, { readonly run: () => void; readonly ms: number }>()
    let lastTimer = 0
    const setTimeout = (run: () => void, ms: number): number => {
      lastTimer += 1
      timers.set(lastTimer, { run, ms })
      return lastTimer
    }
    return { timers, runtime: { setTimeout, clearTimeout: (timer: unknown) => void timers.delete(Number(timer)) } }
  }

  const loginNeeded: ConnectionState = { status: 'login_needed', loginUrl: undefined, reason: new Error('Log in') }
  const gatewayWithLimit = (upstream: ScriptedUpstream, { runtime }: ProxyOptions) =>
    createGateway({ crm: { ...upstream, timeoutMs: 2000 } }, { runtime })

  test.each([
    ['within 30 seconds is closed', proxy, [30_000], undefined],
    ['within 11 minutes is closed, if a person must log in', proxy, [30_000, 660_000], loginNeeded],
    ['within a shorter limit of its calls is closed', gatewayWithLimit, [2000], undefined],
  ])('%s, and leaves no connection and no timer', async (_, createProxy, limits, state) => {
    const { timers, runtime } = timersOf()
    const upstream = createScriptedUpstream({ ...hangs, state })
    const server = createProxy(upstream, { ...options, runtime })
    const calls = [1, 2].map(() => server.exchange(createToolCall({ name: 'crm__greet' }), createCall()))
    for (const limit of limits) {
      await expect.poll(() => Array.from(timers.values(), ({ ms }) => ms)).toContain(limit)
      for (const { run, ms } of Array.from(timers.values())) if (ms === limit) run()
    }
    const limitMs = limits.at(-1)
    const message = `Upstream "crm" gave no answer within ${limitMs} ms: the request has had no effect`
    for (const call of calls) expect(await call).toMatchObject({ error: { message } })
    expect([upstream.opened(), upstream.closed]).toEqual([1, [1]])
    await server.close()
    expect(timers.size).toBe(0)
  })

  test('is closed with the proxy', async () => {
    const { upstream, server } = create(hangs)
    const call = server.exchange(createToolCall(), createCall())
    await expect.poll(() => upstream.opened()).toBe(1)
    await server.close()
    expect(await call).toHaveProperty('error')
    expect(upstream.closed).toContain(1)
  })
})
