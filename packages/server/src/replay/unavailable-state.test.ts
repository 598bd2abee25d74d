import type { LogRecord } from '@x/core'
import { memoryStore, storedState } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sealedState } from '../index.ts'
import { accept, replayModes, type RunHandler, send, serve } from '../testing/rounds.ts'

const text = { message: 'What?', schema: z.object({ text: z.string() }) }
const answer = accept({ text: 'an answer' })
const run: RunHandler = async (ctx) => {
  await ctx.elicit('a', text)
  return (await ctx.elicit('b', text)).text
}

describe.each(replayModes)('requestState with strictReplay $strictReplay', (mode) => {
  test('in a store that cannot be reached is unavailable: the client may send a request again that had not begun [UNA-001 UNA-002]', async () => {
    let reachable = true
    const down = async () => Promise.reject(new Error('connection refused'))
    const flaky = new Proxy(memoryStore(), {
      get: (target, name, receiver) =>
        name === 'forOwner' ? undefined : reachable ? Reflect.get(target, name, receiver) : down,
    })
    const served = serve(run, { ...mode, state: storedState({ store: flaky }) })
    const { state } = await send(served)
    reachable = false
    const unsealed = await send(served, { state, responses: { a: answer } })
    const unstored = await send(served)
    const data = { reason: 'unavailable', retryAfterMs: 1000 }
    expect(unsealed.error?.data).toEqual({ ...data, begun: false })
    expect(unstored.error?.data).toEqual({ ...data, begun: true })
    expect(served.reported).toMatchObject([{ error: { code: 'unavailable' } }, { error: { code: 'unavailable' } }])
    reachable = true
    expect(Object.keys((await send(served, { state, responses: { a: answer } })).requests)).toEqual(['b'])
  })

  test('in a store that cannot be reached is an error of the log once, whoever meets it', async () => {
    const levels: string[] = []
    const refuse = async () => Promise.reject(new Error('connection refused'))
    const down = new Proxy(memoryStore(), { get: (_, name) => (name === 'forOwner' ? undefined : refuse) })
    const log = ({ level }: LogRecord): void => void levels.push(level)
    const served = serve(run, { ...mode, state: storedState({ store: down }), log })
    for (let count = 0; count < 3; count += 1) await send(served)
    expect(levels).toEqual(['error', 'debug', 'debug'])
  })

  test('of an instance whose clock is ahead is unavailable at another, and good there later [UNA-007]', async () => {
    let now = Date.now()
    const keys = ['790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef']
    const sealedAhead = sealedState({ keys, runtime: { now: () => Date.now() + 7_200_000 } })
    const { state } = await send(serve(run, { ...mode, state: sealedAhead }))
    const other = serve(run, { ...mode, state: sealedState({ keys, runtime: { now: () => now } }) })
    const early = await send(other, { state, responses: { a: answer } })
    expect(early.error?.data).toEqual({ reason: 'unavailable', retryAfterMs: 100, begun: false })
    now += 7_200_000
    expect(Object.keys((await send(other, { state, responses: { a: answer } })).requests)).toEqual(['b'])
  })
})
