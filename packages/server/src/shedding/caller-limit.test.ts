import { errorCodes, isJsonObject, type RpcResponse } from '@x/schema'
import { memoryStore, singleUseState, storedState } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, sealedState } from '../index.ts'
import { sendRequest, type AskOptions, errorOf, resultOf } from '../testing/ask.ts'
import { type RunHandler, send, type TestServer, serve, toolKind } from '../testing/rounds.ts'

const keys = ['790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef']
const eve: AskOptions = { clientAddress: '192.0.2.66' }
const ada: AskOptions = { clientAddress: '192.0.2.1' }

/** A handler that waits until the test lets all of its runs end. */
function gate(): { readonly run: RunHandler; readonly open: () => void; readonly begun: () => number } {
  let begun = 0
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const run: RunHandler = async () => {
    begun++
    await opened
    return 'done'
  }
  return { run, open, begun: () => begun }
}

const call = ({ server }: TestServer, options: AskOptions) =>
  sendRequest(server, 'tools/call', toolKind.params, options)
const errorIn = (response: RpcResponse) => ('error' in response ? response.error : undefined)

describe('the calls that a caller has at once', () => {
  test('are limited, and those of another caller are not [TOL-037]', async () => {
    const { run, open, begun } = gate()
    const served = serve(run, { limits: { calls: 3 }, strictReplay: false })
    const running = [1, 2, 3].map(() => call(served, eve))
    expect(errorIn(await call(served, eve))).toEqual({
      code: errorCodes.internal,
      message:
        'You have reached calls, which is 3 for each caller: wait for the response to another call, or try again in 1000 ms',
      data: { reason: 'quota', limit: 'calls', max: 3, retryAfterMs: 1000 },
    })
    const principal = { subject: 'eve' }
    const others = [call(served, ada), call(served, { ...eve, principal }), call(served, {})]
    expect(begun()).toBe(6)
    open()
    for (const each of [...running, ...others]) expect(errorIn(await each)).toBeUndefined()
    expect(errorIn(await call(served, eve))).toBeUndefined()
  })

  test('are 1000 by default, of 2,813 that one connection sends', async () => {
    const { run, open, begun } = gate()
    const served = serve(run, { strictReplay: false })
    const sent = Array.from({ length: 2813 }, () => call(served, eve))
    expect(begun()).toBe(1000)
    const other = call(served, ada)
    expect(begun()).toBe(1001)
    open()
    const rejected = (await Promise.all(sent)).filter((response) => errorIn(response) !== undefined)
    expect(rejected).toHaveLength(1813)
    expect(errorIn(await other)).toBeUndefined()
  })

  test('do not count when they are answered at once, nor when they fail', async () => {
    const served = serve(() => 'at once', { limits: { calls: 1 }, strictReplay: false })
    for (let at = 0; at < 3; at++) expect(errorIn(await call(served, eve))).toBeUndefined()
    const failing = serve(() => Promise.reject(new Error('broken')), { limits: { calls: 1 }, strictReplay: false })
    for (let at = 0; at < 3; at++)
      expect(await resultOf(failing.server, 'tools/call', toolKind.params, eve)).toMatchObject({ isError: true })
  })

  test('include those of extensions', async () => {
    let finish = (): void => {}
    const pending = new Promise<void>((resolve) => {
      finish = resolve
    })
    const method = async () => {
      await pending
      return { slept: true }
    }
    const server = createServer({
      name: 'demo',
      version: '1',
      state: sealedState({ keys }),
      limits: { calls: 2 },
      extensions: [
        {
          extends: 'server',
          name: 'sleep',
          identifier: 'com.example/sleep',
          start: () => ({ methods: { 'com.example/sleep': method } }),
        },
      ],
    })
    const sleeping = [1, 2].map(() => resultOf(server, 'com.example/sleep', {}, eve))
    expect(await errorOf(server, 'com.example/sleep', {}, eve)).toMatchObject({ data: { limit: 'calls' } })
    const other = resultOf(server, 'com.example/sleep', {}, ada)
    finish()
    for (const each of [...sleeping, other]) expect(await each).toMatchObject({ slept: true })
    expect(await resultOf(server, 'com.example/sleep', {}, eve)).toMatchObject({ slept: true })
  })

  test.each([0, Number.NaN, -1])('of which %d are allowed make no server', (calls) => {
    expect(() => createServer({ name: 'demo', version: '1', limits: { calls } })).toThrow(RangeError)
  })
})

describe('one state that is sent ten times', () => {
  /** A server of four calls at once, whose handler asks and then waits; and a state of each caller. */
  const begin = async () => {
    let open = (): void => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    let begun = 0
    const run: RunHandler = async (ctx) => {
      await ctx.elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) })
      begun++
      await opened
      return 'done'
    }
    const shedding = { hardLimit: { running: 4 } }
    const served = serve(run, { state: sealedState({ keys }), strictReplay: false, shedding })
    const stateOf = async (options: AskOptions) => (await send(served, {}, options)).state
    const yes = { sure: { action: 'accept', content: { sure: true } } }
    const resume = async (state: string | undefined, options: AskOptions) =>
      send(served, { state, responses: yes }, options)
    return { served, stateOf, resume, open, begun: () => begun }
  }
  const settled = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  }

  test('leaves a share of the hard limit to new calls, and one to the states of others', async () => {
    const { served, stateOf, resume, open, begun } = await begin()
    const [own, other] = [await stateOf(eve), await stateOf(ada)]
    const sent = Array.from({ length: 10 }, () => resume(own, eve))
    await settled()
    // As many as the limit while there is room.
    expect([begun(), served.server.load.running]).toEqual([4, 4])
    const returned = resume(other, ada)
    await settled()
    expect(begun()).toBe(5)
    // A new call asks, which it could not if it were rejected.
    expect((await send(served, {}, ada)).state).toEqual(expect.any(String))
    open()
    const rounds = await Promise.all(sent)
    const rejected = rounds.filter(({ error }) => error !== undefined)
    expect(rejected).toHaveLength(6)
    expect(rejected[0]?.error).toMatchObject({
      message: 'The server is at its hard limit (running is 4) and has not begun this request: try again in 1000 ms',
      data: { reason: 'overloaded', limit: 'hardLimit.running', max: 4, retryAfterMs: 1000 },
    })
    expect((await returned).text).toBe('done')
    expect(served.server.load).toMatchObject({ running: 0, counters: { rejected: 6, resumed: 5 } })
    expect((await resume(own, eve)).text).toBe('done')
  })

  test('by ten callers leaves the share to new calls as well', async () => {
    const { served, stateOf, resume, open, begun } = await begin()
    const callers = Array.from({ length: 10 }, (_, at): AskOptions => ({ clientAddress: `192.0.2.${at}` }))
    const states: (string | undefined)[] = []
    for (const caller of callers) states.push(await stateOf(caller))
    const sent = callers.map((caller, at) => resume(states[at], caller))
    await settled()
    expect(begun()).toBe(7)
    expect((await send(served, {}, ada)).state).toEqual(expect.any(String))
    open()
    expect((await Promise.all(sent)).filter(({ error }) => error === undefined)).toHaveLength(7)
  })

  test('counts for nothing once it was rejected as forged', async () => {
    const { served, resume } = await begin()
    for (let at = 0; at < 10; at++) {
      expect((await resume('forged', eve)).error).toMatchObject({ code: errorCodes.invalidParams })
    }
    expect(served.server.load.running).toBe(0)
  })
})

describe('what suspended calls leave in a store', () => {
  const asking: RunHandler = async (ctx) => {
    await ctx.elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) })
    return 'done'
  }

  test('has a share for each caller', async () => {
    const served = serve(asking, {
      state: storedState({ store: memoryStore({ maxEntries: 30 }) }),
      strictReplay: false,
    })
    for (let at = 0; at < 3; at++) await send(served, {}, eve)
    expect((await send(served, {}, eve)).error).toMatchObject({
      code: errorCodes.internal,
      message: expect.stringMatching(/^You have reached states, which is 3 for each caller: try again in \d+ ms$/),
      data: { reason: 'quota', limit: 'states', max: 3, retryAfterMs: expect.any(Number) },
    })
    expect((await send(served, {}, ada)).state).toEqual(expect.any(String))
  })

  test('has a share for the uses of states, and a use that does not fit keeps its state good', async () => {
    let now = 1_000_000
    const clock = { now: () => now }
    const store = memoryStore({ maxEntries: 20, runtime: clock })
    const state = singleUseState(sealedState({ keys, runtime: clock, ttlMs: 60_000, maxAgeMs: 600_000 }), store)
    const served = serve(asking, { state, strictReplay: false, runtime: { now: () => now } })
    const no = { sure: { action: 'accept', content: { sure: false } } }
    const round = async (options: AskOptions, given?: string) =>
      send(served, { state: given ?? (await send(served, {}, options)).state, responses: no }, options)
    for (let at = 0; at < 2; at++) expect((await round(eve)).text).toBe('done')
    const unused = (await send(served, {}, eve)).state
    expect((await round(eve, unused)).error).toMatchObject({ data: { reason: 'quota', max: 2 } })
    expect((await round(ada)).text).toBe('done')
    expect(served.server.load.running).toBe(0)
    now += 59_000
    const late = (await round(eve, unused)).error?.data
    expect(isJsonObject(late) && late['reason']).toBe('quota')
    now += 300_000
    expect((await round(eve)).text).toBe('done')
  })
})
