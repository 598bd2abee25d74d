import { createGate } from '@tooling/vitest/gate'
import { manualClock } from '@tooling/vitest/manual-clock'
import { expect, test } from 'vitest'
import type { ConnectionState, LogRecord } from '../index.ts'
import { createGateway, errorOf, resultOf } from '../testing/gateway-kit.ts'
import { answerPlainly, createScriptedUpstream } from '../testing/scripted-upstream.ts'

test('a call of a pinned tool waits for a process that starts, as other calls do', async () => {
  const [clock, started] = [manualClock(), createGate()]
  const tools = [{ name: 'add', inputSchema: { type: 'object' } }]
  const crm = createScriptedUpstream({
    peer: { revision: '2026-07-28' },
    url: 'stdio:crm',
    hasStates: true,
    describe: ({ id }) => started.opened.then(() => ({ jsonrpc: '2.0', id, result: {} })),
    answer: async ({ request, call }) => {
      if (request.method === 'tools/call') return answerPlainly(request, call)
      const result = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools }
      return { jsonrpc: '2.0', id: request.id, result }
    },
  })
  const pins = { get: () => undefined, add: (_: string, digest: string) => digest }
  const server = createGateway({ crm: { ...crm, tools: { pins } } }, { runtime: clock })
  const passFiveSeconds = async (times: number): Promise<void> => {
    for (let count = 0; count < times; count += 1) {
      await expect.poll(() => clock.waiting).toBeGreaterThan(1)
      clock.advance(5000)
      await new Promise(setImmediate)
    }
  }
  const params = { name: 'crm__add', arguments: {} }
  const early = errorOf(server, 'tools/call', params)
  await passFiveSeconds(4)
  const data = { begun: false, retryAfterMs: 2000 }
  expect(await early).toMatchObject({ message: 'Upstream "crm" has not started yet', data })
  const late = resultOf(server, 'tools/call', params)
  await passFiveSeconds(2)
  started.open()
  expect(await late).toMatchObject({ resultType: 'complete' })
  await server.close()
})

test('an upstream stays unreachable for its pinned tools when their definitions have to be read again [GWY-007]', async () => {
  let [now, isGone] = [0, false]
  const list = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
  const tools = [{ name: 'add', inputSchema: { type: 'object' } }]
  const crm = createScriptedUpstream({
    answer: async ({ request, call }) => {
      if (isGone) throw new Error('ECONNREFUSED')
      if (request.method === 'tools/call') return answerPlainly(request, call)
      return { jsonrpc: '2.0', id: request.id, result: { ...list, tools } }
    },
  })
  const pins = { get: () => undefined, add: (_: string, digest: string) => digest }
  const server = createGateway({ crm: { ...crm, tools: { pins } } }, { runtime: { monotonicNow: () => now } })
  const params = { name: 'crm__add', arguments: {} }
  await resultOf(server, 'tools/call', params)
  isGone = true
  for (let count = 0; count < 3; count += 1) await errorOf(server, 'tools/call', params)
  const unreachable = { message: 'Upstream "crm" is unreachable', data: { retryAfterMs: 2000 } }
  await expect.poll(() => server.upstreams.get('crm')?.state.reason?.message).toBe(unreachable.message)
  // The check of a definition is valid for a minute.
  for (const atMs of [0, 61_000, 122_000]) {
    now = atMs
    expect(await errorOf(server, 'tools/call', params)).toMatchObject(unreachable)
  }
  await server.close()
})

test('the first call of all waits for a login as long as later ones do', async () => {
  const clock = manualClock()
  const { connect } = createScriptedUpstream({ answer: () => new Promise(() => {}) })
  let report: ((state: ConnectionState) => void) | undefined
  const onStateChange = (listener: NonNullable<typeof report>) => {
    report = listener
    return () => {}
  }
  const crm = { connect: () => ({ ...connect(), onStateChange }) }
  const server = createGateway({ crm }, { runtime: clock })
  const call = errorOf(server, 'tools/call', { name: 'crm__add', arguments: {} })
  const reason = Object.assign(new Error('Log in first: https://login.test'), { code: 'login_pending' })
  await expect.poll(() => report).toBeDefined()
  report?.({ status: 'login_needed', loginUrl: 'https://login.test', reason })
  await expect.poll(() => clock.waiting).toBeGreaterThan(0)
  clock.advance(20_000)
  expect(await call).toMatchObject({ message: expect.stringContaining('Upstream "crm" cannot be called') })
  await server.close()
})

test('an upstream is not closed with a connection that starts its process no more: the gateway opens another', async () => {
  const { connect } = createScriptedUpstream()
  const reason = new Error('its process ended')
  let report = (_state: ConnectionState): void => {}
  const onStateChange = (listener: typeof report) => {
    report = listener
    return () => {}
  }
  const server = createGateway({ crm: { connect: () => ({ ...connect(), onStateChange }) } })
  await resultOf(server, 'tools/list')
  report({ status: 'closed', loginUrl: undefined, reason })
  expect(server.upstreams.get('crm')?.state).toEqual({ status: 'restarting', loginUrl: undefined, reason })
  await server.close()
})

test('a call is not worth another one if the process of its upstream ends at its start, until it has answered', async () => {
  const ended = Object.assign(new Error('ended'), { code: 'restarts', exitCode: 9, mayHaveRun: false })
  let [now, hasEnded] = [0, true]
  const crm = createScriptedUpstream({
    answer: ({ request, call }) => (hasEnded ? Promise.reject(ended) : answerPlainly(request, call)),
  })
  const server = createGateway({ crm }, { runtime: { monotonicNow: () => now } })
  const params = { name: 'crm__add', arguments: {} }
  const call = () => errorOf(server, 'tools/call', params)
  const reason = 'its process ended with code 9'
  const message = `Upstream "crm" gave no answer (${reason}): the request has had no effect`
  for (let count = 0; count < 3; count += 1)
    expect(await call()).toMatchObject({ message, data: { begun: false, permanent: true } })
  const unreachable = { message: `Upstream "crm" is unreachable: ${reason}`, data: { permanent: true } }
  await expect.poll(call).toMatchObject(unreachable)
  now += 2000
  hasEnded = false
  await resultOf(server, 'tools/call', params)
  hasEnded = true
  expect(await call()).toMatchObject({ message, data: { begun: false, retryAfterMs: 100 } })
  await server.close()
})

test('an upstream whose connection cannot be created says why, and a host has nothing to wait for', async () => {
  const fail = (): never => {
    throw new TypeError('http: to another machine needs allowHttp')
  }
  const logged: LogRecord[] = []
  const server = createGateway({ crm: { connect: fail } }, { log: (record) => logged.push(record) })
  const reason = 'its connection could not be created'
  for (let count = 0; count < 4; count += 1) {
    const error = await errorOf(server, 'tools/call', { name: 'crm__add', arguments: {} })
    expect(error).toMatchObject({ message: expect.stringContaining(reason), data: { begun: false, permanent: true } })
  }
  expect(server.upstreams.get('crm')?.state.reason?.message).toContain(reason)
  expect(logged.filter(({ level }) => level === 'error')).toMatchObject([
    { message: expect.stringContaining('allowHttp') },
  ])
  await server.close()
})
