import type { RpcNotification, RpcResponse } from '@x/schema'
import { describe, expect, test } from 'vitest'
import type { GatewayUpstreamOptions } from '../index.ts'
import { callOf, createGateway, createNotes, errorOf, namesIn, openStream, resultOf } from '../testing/gateway-kit.ts'
import { connectAny } from '@x/legacy/client'
import { createGate } from '@tooling/vitest/gate'
import { manualClock } from '@tooling/vitest/manual-clock'
import {
  answerPlainly,
  type ArrivedRequest,
  createScriptedUpstream,
  olderOverHttp,
} from '../testing/scripted-upstream.ts'

const answer = ({ request, call }: ArrivedRequest): Promise<RpcResponse> => answerPlainly(request, call)
const noTools = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
const echo = { name: 'echo', inputSchema: { type: 'object' } }
const notStarted = { message: 'Upstream "crm" has not started yet' }
const refuseConnection = (): Promise<never> => Promise.reject(new Error('ECONNREFUSED'))

/** A gateway with one upstream, whose answers and clock a test sets. */
function start(options: Partial<GatewayUpstreamOptions> = {}, url?: string, shortened: readonly number[] = []) {
  const state = { now: 0, answer }
  const crm = createScriptedUpstream({ answer: (arrived) => state.answer(arrived), ...(url !== undefined && { url }) })
  // The pauses of a stream are short here; time limits are not.
  const setTimeout = (run: () => void, ms: number) =>
    globalThis.setTimeout(run, ms === 1999 || shortened.includes(ms) ? 1 : ms)
  const runtime = { monotonicNow: () => state.now, setTimeout }
  const server = createGateway({ crm: { ...crm, ...options }, files: createNotes('files') }, { runtime })
  const upstreamState = () => server.upstreams.get('crm')?.state.status
  const callTool = (subject = 'ada', params: object = {}) =>
    resultOf(server, 'tools/call', { name: 'crm__add', ...params }, callOf(subject))
  /** Makes the upstream unreachable for all. */
  const end = async () => {
    state.answer = refuseConnection
    for (let count = 0; count < 3; count += 1) await expect(callTool()).rejects.toThrow('gave no answer')
    await expect.poll(() => server.upstreams.get('crm')?.state.reason?.message).toContain('is unreachable')
  }
  const methods = () => crm.arrived.map(({ request }) => request.method)
  return { state, crm, server, upstreamState, callTool, end, methods }
}

describe('an upstream that answers neither three requests in a row nor a probe [GWY-007]', () => {
  test('is unreachable: calls are refused until a probe is answered, and one is sent every two seconds', async () => {
    const { state, crm, server, upstreamState, callTool, end } = start()
    expect(upstreamState()).toBe('connecting')
    await end()
    const unreachable = {
      code: -32603,
      message: 'Upstream "crm" is unreachable',
      data: { upstream: 'crm', begun: false, retryAfterMs: 2000 },
    }
    const refused = () => errorOf(server, 'tools/call', { name: 'crm__add' })
    expect([await refused(), crm.arrived.length]).toEqual([unreachable, 4])
    expect(namesIn(await resultOf(server, 'tools/list'), 'tools')).toContain('files__add')
    state.now += 2000
    // A process that its connection has given up is started again, too.
    state.answer = () => Promise.reject(Object.assign(new Error('ended'), { code: 'restarts' }))
    const ended = { message: 'Upstream "crm" is unreachable: its process ended', data: { permanent: true } }
    expect([await refused(), await refused(), crm.arrived.length]).toMatchObject([ended, ended, 5])
    state.now += 2000
    state.answer = answer
    expect(await callTool()).toMatchObject({ resultType: 'complete' })
    expect(upstreamState()).toBe('open')
    await server.close()
  })

  test('is probed by readiness if it is required, and the gateway is ready again without a call [GWY-021]', async () => {
    const { state, crm, server, end } = start({ required: true })
    await end()
    expect([await server.ready(), await server.ready(), crm.arrived.length]).toEqual([false, false, 4])
    state.now += 2000
    expect([await server.ready(), await server.ready(), crm.arrived.length]).toEqual([false, false, 5])
    state.now += 2000
    state.answer = answer
    expect(await server.ready()).toBe(true)
    await server.close()
  })

  test('is asked by readiness if it is required and has not answered of late, also before the first call [GWY-021]', async () => {
    const { state, crm, server, callTool } = start({ required: true })
    state.answer = refuseConnection
    expect([await server.ready(), await server.ready(), crm.arrived.length]).toEqual([false, false, 1])
    state.now += 2000
    state.answer = answer
    expect([await server.ready(), await server.ready(), crm.arrived.length]).toEqual([true, true, 2])
    state.now += 10_000
    state.answer = refuseConnection
    expect([await server.ready(), crm.arrived.length]).toEqual([false, 3])
    state.answer = answer
    // One lost answer refuses no call.
    expect(await callTool()).toMatchObject({ resultType: 'complete' })
    expect([await server.ready(), crm.arrived.length]).toEqual([true, 4])
    await server.close()
  })

  test.each([false, true])('is asked again if a request was lost, away: %s [GWY-021]', async (isAway) => {
    const { state, crm, server, end } = start({ required: true }, 'http://127.0.0.1:9/mcp', [2000, 5000])
    if (isAway) await end()
    state.now += 2000
    state.answer = () => new Promise(() => {})
    expect(await server.ready()).toBe(false)
    const arrived = crm.arrived.length
    state.answer = answer
    // Nobody calls, so only readiness can see that it is back.
    for (let count = 0; count < 20 && !(await server.ready()); count += 1) state.now += 2000
    expect([await server.ready(), crm.arrived.length]).toEqual([true, arrived + 1])
    await server.close()
  })

  test('is probed by no stream, and any message on a stream is an answer [GWY-022]', async () => {
    const { state, server, upstreamState, callTool, end, methods } = start()
    await end()
    const streams = Array.from({ length: 15 }, () => openStream(server, { toolsListChanged: true }))
    for (const { methods: arrived } of streams) await expect.poll(arrived).toEqual(['subscriptions/acknowledged'])
    expect(methods()).not.toContain('subscriptions/listen')
    state.now += 2000
    state.answer = answer
    expect(await callTool()).toMatchObject({ resultType: 'complete' })
    for (const stream of streams) stream.close()

    // The stream stays open, and its notification between failures is an answer.
    const notifiers: ((message: RpcNotification) => void)[] = []
    state.answer = ({ call }) => {
      notifiers.push(call.notify)
      return new Promise(() => {})
    }
    const stream = openStream(server, { toolsListChanged: true })
    await expect.poll(() => notifiers.length).toBe(1)
    state.answer = refuseConnection
    for (let count = 0; count < 4; count += 1) {
      await expect(callTool()).rejects.toThrow('gave no answer')
      notifiers[0]?.({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    }
    expect([upstreamState(), methods().filter((method) => method === 'server/discover')]).toEqual([
      'open',
      ['server/discover', 'server/discover'],
    ])
    stream.close()
    await server.close()
  })

  test('acknowledges the changes that it will follow, and leaves out those that it refuses [GWY-024]', async () => {
    const { state, server, end } = start()
    await end()
    state.now += 1
    const resourceSubscriptions = ['crm+note://1', 'files+note://first', 'hr+note://1']
    const stream = openStream(server, { resourceSubscriptions })
    await expect.poll(stream.methods).toEqual(['subscriptions/acknowledged'])
    const followed = ['crm+note://1', 'files+note://first']
    expect(stream.arrived[0]?.params?.['notifications']).toEqual({ resourceSubscriptions: followed })
    state.now += 2000
    state.answer = ({ request: { id, params, method }, call }) => {
      if (method !== 'subscriptions/listen')
        return answer({ connection: 1, request: { jsonrpc: '2.0', id, method }, call })
      const notifications = params?.['notifications'] as RpcNotification['params']
      call.notify({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications },
      } as RpcNotification)
      return new Promise(() => {})
    }
    await expect.poll(stream.methods).toContain('resources/updated')
    stream.close()
    await server.close()
  })
})

describe('what one caller sends takes nothing from another [GWY-020]', () => {
  const withMembers = (members: object) => Object.assign(new Error('secret'), members)
  test.each([
    ['a body beyond the limit', withMembers({ code: 'status', status: 413 }), 'answered with HTTP 413'],
    ['headers beyond the limit', withMembers({ code: 'protocol', status: 431 }), 'answered with HTTP 431'],
    ['too many requests', withMembers({ code: 'status', status: 429 }), 'answered with HTTP 429'],
    [
      'an answer beyond the limit',
      withMembers({ code: 'too_large', status: 200 }),
      'gave an answer that cannot be read',
    ],
    ['a connection that the upstream resets', withMembers({ code: 'closed' }), 'gave no answer'],
    ['a balancer without an instance', withMembers({ code: 'status', status: 503 }), 'gave no answer'],
  ])('%s', async (_, error, message) => {
    const { state, server, upstreamState, callTool } = start({ required: true })
    state.answer = (arrived) =>
      arrived.request.params?.['arguments'] === undefined ? answer(arrived) : Promise.reject(error)
    for (let count = 0; count < 9; count += 1) {
      await expect(callTool('mallory', { arguments: {} })).rejects.toThrow(message)
      if (count % 3 === 2) expect(await callTool('ada')).toMatchObject({ resultType: 'complete' })
    }
    expect([upstreamState(), await server.ready()]).toEqual(['open', true])
    await server.close()
  })

  test('a description that is refused to one caller, which another asks for itself', async () => {
    let descriptions = 0
    const crm = createScriptedUpstream({
      peer: { revision: '2026-07-28' },
      describe: async ({ id }) => {
        descriptions += 1
        if (descriptions === 1) throw withMembers({ code: 'status', status: 413 })
        return { jsonrpc: '2.0', id, result: {} }
      },
    })
    const server = createGateway({ crm })
    const call = (subject: string) => resultOf(server, 'tools/call', { name: 'crm__add' }, callOf(subject))
    const [mallory, ada] = await Promise.allSettled([call('mallory'), call('ada')])
    expect([mallory.status, ada.status]).toEqual(['rejected', 'fulfilled'])
    await server.close()
  })

  test('a process with a running call is not ended when it is replaced, and is closed after the call', async () => {
    const { state, crm, server, callTool, end } = start({}, 'stdio:crm')
    let finish = (): void => {}
    state.answer = async (arrived) => {
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return answer(arrived)
    }
    const running = callTool('ada')
    await expect.poll(() => crm.arrived.length).toBe(1)
    await end()
    state.now += 2000
    state.answer = answer
    expect(await callTool('grace')).toMatchObject({ resultType: 'complete' })
    expect([crm.opened() > 1, crm.closed]).toEqual([true, expect.not.arrayContaining([1])])
    finish()
    expect(await running).toMatchObject({ resultType: 'complete' })
    expect(crm.closed).toContain(1)
    await server.close()
  })
})

describe('an upstream that has not opened', () => {
  test('is waited for while its process starts: calls say so, and its tools appear when it answers', async () => {
    const clock = manualClock()
    const started = createGate()
    const crm = createScriptedUpstream({
      peer: { revision: '2026-07-28' },
      url: 'stdio:crm',
      hasStates: true,
      describe: async ({ id }) => {
        await started.opened
        return { jsonrpc: '2.0', id, result: {} }
      },
      answer: async ({ request, call }) =>
        request.method === 'tools/list'
          ? { jsonrpc: '2.0', id: request.id, result: { ...noTools, tools: [echo] } }
          : answerPlainly(request, call),
    })
    const server = createGateway({ crm }, { runtime: clock })
    const state = () => server.upstreams.get('crm')?.state
    const stream = openStream(server, { toolsListChanged: true })
    for (let count = 0; count < 5; count += 1) {
      const list = resultOf(server, 'tools/list')
      await expect.poll(() => clock.waiting).toBeGreaterThan(count === 0 ? 2 : 1)
      clock.advance(5000)
      expect(namesIn(await list, 'tools')).toEqual([])
      expect(state()).toMatchObject({ status: 'connecting', reason: notStarted })
    }
    const call = errorOf(server, 'tools/call', { name: 'crm__echo' })
    await expect.poll(() => clock.waiting).toBeGreaterThan(1)
    clock.advance(20_000)
    const data = { upstream: 'crm', begun: false, retryAfterMs: 2000 }
    expect(await call).toEqual({ code: -32603, ...notStarted, data })
    // More than the limit of a description.
    clock.advance(30_000)
    expect([crm.opened(), crm.closed]).toEqual([1, []])
    expect(stream.methods()).toEqual(['subscriptions/acknowledged'])

    started.open()
    await expect.poll(() => state()?.status).toBe('open')
    await expect
      .poll(() => {
        clock.advance(100)
        return stream.methods()
      })
      .toContain('tools/list_changed')
    expect(namesIn(await resultOf(server, 'tools/list'), 'tools')).toEqual(['crm__echo'])
    expect([crm.opened(), crm.closed]).toEqual([1, []])
    stream.close()
    await server.close()
  })

  test.each([
    ['a program that is missing', { command: 'no-such-program' }, 'no-such-program'],
    ['a program that ends at its start', { command: process.execPath, args: ['-e', 'process.exit(9)'] }, 'with code 9'],
    ['a port without a listener', 'http://127.0.0.1:9/mcp', 'nothing listens at this address'],
  ])('says why: %s', async (_, target, reason) => {
    const server = createGateway({ crm: { connect: () => connectAny(target, { log: () => {} }) } })
    const heard: (string | undefined)[] = []
    server.upstreams.get('crm')?.onStateChange((state) => heard.push(`${state.status} ${state.reason?.message}`))
    for (let count = 0; count < 4; count += 1) await resultOf(server, 'tools/list')
    expect(heard).toEqual([expect.stringMatching(`connecting .*${reason}`)])
    await server.close()
    expect(heard).toHaveLength(2)
  })

  test('is restarting if it was open before, although the connection is a new one', async () => {
    const state = { answer }
    const crm = createScriptedUpstream({
      peer: olderOverHttp,
      hasStates: true,
      answer: (arrived) => state.answer(arrived),
    })
    const server = createGateway({ crm })
    await resultOf(server, 'tools/list', {}, callOf('ada'))
    state.answer = refuseConnection
    await errorOf(server, 'tools/call', { name: 'crm__add' }, callOf('grace'))
    expect([server.upstreams.get('crm')?.state, crm.opened()]).toMatchObject([
      { status: 'restarting', reason: { message: 'ECONNREFUSED' } },
      2,
    ])
    await server.close()
  })
})

test('an upstream is not unreachable after errors of its tools', async () => {
  const { state, crm, server, callTool } = start()
  state.answer = async ({ request: { id } }) => ({ jsonrpc: '2.0', id, error: { code: -32603, message: 'no' } })
  for (let call = 0; call < 5; call += 1) await expect(callTool()).rejects.toThrow('no')
  expect(crm.arrived).toHaveLength(5)
  await server.close()
})
