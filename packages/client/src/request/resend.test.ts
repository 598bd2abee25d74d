import { manualClock } from '@tooling/vitest/manual-clock'
import type { JsonObject, WireError } from '@x/schema'
import { describe, expect, test } from 'vitest'
import type { CallOptions } from './call-options.ts'
import { createClient } from '../create-client.ts'
import type { CoreClientOptions } from './options.ts'
import { flushPromises } from '../testing/asking.ts'
import { hostInfo, createTextResult, createScriptedExchange } from '../testing/scripted-exchange.ts'

const overloaded = refusal({ reason: 'overloaded', retryAfterMs: 1000 })
const stopping = refusal({ reason: 'stopping', retryAfterMs: 0 })

function refusal(data: JsonObject, code = -32603): { readonly error: WireError } {
  return { error: { code, message: 'Not now', data } }
}

/** A call to a server that refuses in these ways, one after the other, and then answers. */
function callRefused(
  refusals: readonly { readonly error: WireError }[],
  options: CoreClientOptions & CallOptions = hostInfo,
) {
  const clock = manualClock()
  let next = 0
  const exchange = createScriptedExchange(async () => {
    const refused = refusals[next]
    next += 1
    // A script may answer with an error.
    return (refused ?? createTextResult('done')) as JsonObject
  })
  const { signal, ...clientOptions } = options
  const call = createClient(exchange, { ...clientOptions, runtime: clock }).callTool('t', {}, signal ? { signal } : {})
  const outcome = call.then(
    ({ content }) => content[0],
    (error: unknown) => error,
  )
  /** Lets waits end that are no longer than this. */
  const pass = async (ms: number): Promise<number> => {
    await flushPromises()
    clock.advance(ms)
    await flushPromises()
    return exchange.received.length
  }
  return { clock, exchange, outcome, pass }
}

const done = { type: 'text', text: 'done' }

describe('A call that the server has not begun', () => {
  test('is sent again when the server wants it, and a little later, so that not all come at once', async () => {
    const { outcome, pass } = callRefused([overloaded, overloaded])
    expect([await pass(1499), await pass(501), await pass(1999), await pass(1001)]).toEqual([1, 2, 2, 3])
    expect(await outcome).toEqual(done)
  })

  test('is sent again soon when the server stops, because another instance takes it', async () => {
    const { outcome, pass } = callRefused([stopping, stopping, stopping])
    expect([await pass(50), await pass(100), await pass(200)]).toEqual([2, 3, 4])
    expect(await outcome).toEqual(done)
  })

  test.each([
    ['for ten seconds', hostInfo, 4],
    ['as long as the client says', { ...hostInfo, maxResendMs: 3000 }, 2],
    ['never, where the client says so', { ...hostInfo, maxResendMs: 0 }, 1],
  ])('is sent again %s, and then fails with the answer of the server', async (_title, options, sent) => {
    const { clock, outcome, pass } = callRefused(Array(9).fill(overloaded), options)
    for (let step = 0; step < 1100; step++) await pass(10)
    expect(await pass(0)).toBe(sent)
    expect(await outcome).toMatchObject({ code: 'rpc', rpc: overloaded.error })
    expect(clock.waiting).toBe(0)
  })

  test('is not waited for longer than a call may take', async () => {
    const { clock, outcome, pass } = callRefused([overloaded, overloaded], { ...hostInfo, timeoutMs: 2500 })
    expect([await pass(2000), await pass(5000)]).toEqual([2, 2])
    expect(await outcome).toMatchObject({ code: 'rpc' })
    expect(clock.waiting).toBe(0)
  })

  test('is given up with the reason of its signal', async () => {
    const controller = new AbortController()
    const { clock, outcome, pass } = callRefused([overloaded], { ...hostInfo, signal: controller.signal })
    await pass(100)
    controller.abort('enough')
    expect(await outcome).toBe('enough')
    expect([await pass(5000), clock.waiting]).toEqual([1, 0])
  })
})

test.each([
  [{ reason: 'unavailable', retryAfterMs: 1000, begun: false }, 2],
  [{ reason: 'unavailable', retryAfterMs: 1000, begun: true }, 1],
  [{ reason: 'unavailable', retryAfterMs: 1000 }, 1],
  [{ upstream: 'crm', retryAfterMs: 1000, begun: false }, 2],
  [{ upstream: 'crm', retryAfterMs: 1000, begun: true }, 1],
  [{ reason: 'quota', limit: 'calls', max: 1, retryAfterMs: 1000 }, 2],
  [{ reason: 'overloaded', retryAfterMs: 1000, begun: false }, 2],
  [{ reason: 'overloaded', retryAfterMs: 1000, begun: true }, 1],
  [{ reason: 'stopping', retryAfterMs: 0, begun: true }, 1],
])('a call of an unknown tool with the error %j is sent %i times [UNA-003]', async (data, sent) => {
  const { exchange, outcome, pass } = callRefused([refusal(data)])
  const countCalls = (): number => exchange.received.filter(({ request }) => request.method === 'tools/call').length
  await pass(999)
  expect(countCalls()).toBe(1)
  await pass(1001)
  await outcome
  // The list of tools is read once where the server has begun the call.
  expect(countCalls()).toBe(sent)
})

const fromBalancer = (status: number): Error =>
  Object.assign(new Error(`answered ${status}`), { name: 'HttpError', code: 'status', status, mayHaveRun: true })

test.each<[string, JsonObject | Error, number]>([
  ['cannot begin', { reason: 'unavailable', retryAfterMs: 1000, begun: false }, 2],
  ['has lost its work', { upstream: 'crm', retryAfterMs: 1000, begun: true }, 4],
  ['has no place for it, in the words of a balancer', fromBalancer(503), 2],
  ['has lost its work, in the words of a balancer', fromBalancer(504), 5],
])('a server that takes 14 seconds to say that it %s', async (_title, answer, sent) => {
  const clock = manualClock()
  const exchange = createScriptedExchange(async () => {
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, 14_000))
    if (answer instanceof Error) throw answer
    // A script may answer with an error.
    return refusal(answer) as unknown as JsonObject
  })
  const client = createClient(exchange, { ...hostInfo, runtime: clock })
  const controller = new AbortController()
  const read = client.readResource('note://a', { signal: controller.signal })
  const outcome = read.catch((error: unknown) => error)
  for (let step = 0; step < 600; step += 1) {
    await flushPromises()
    clock.advance(100)
  }
  expect(exchange.received).toHaveLength(sent)
  controller.abort()
  await outcome
})

test('a call beyond the quota of its caller waits longer than for an outage, and no longer than a request may take', async () => {
  const quota = refusal({ reason: 'quota', limit: 'calls', max: 1, retryAfterMs: 25_000 })
  const { clock, exchange, outcome, pass } = callRefused([quota])
  await pass(24_999)
  expect(exchange.received).toHaveLength(1)
  await pass(30_000)
  expect(await outcome).toMatchObject({ text: 'done' })
  const { outcome: late } = callRefused([refusal({ reason: 'quota', retryAfterMs: 60_000 })])
  expect(await late).toMatchObject({ code: 'rpc', mayHaveRun: false })
  expect([exchange.received.length, clock.waiting]).toEqual([2, 0])
})

test.each([
  ['says nothing more', { error: { code: -32603, message: 'Internal error' } }],
  ['has another reason', refusal({ reason: 'broken', retryAfterMs: 1 })],
  ['is of another kind', refusal({ reason: 'overloaded', retryAfterMs: 1 }, -32602)],
  ['does not say when', refusal({ reason: 'overloaded' })],
  ['says when in words', refusal({ reason: 'overloaded', retryAfterMs: 'soon' })],
  ['says when in the past', refusal({ reason: 'overloaded', retryAfterMs: -1 })],
  ['asks for more than a call may take', refusal({ reason: 'overloaded', retryAfterMs: 1e300 })],
])('a call whose error %s fails at once', async (_title, refused) => {
  const { clock, exchange, outcome } = callRefused([refused])
  expect(await outcome).toMatchObject({ code: 'rpc' })
  expect([exchange.received.length, clock.waiting]).toEqual([1, 0])
})
