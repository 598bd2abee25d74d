import { memoryStore, StateUsageError, storedState } from '@x/state-codec'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Context, inputRequired, isSuspension, sealedState } from '../index.ts'
import type { SheddingCall } from '../internals.ts'
import { createManualLoad, overloadedLoad, serveWithLoad, serveOverloaded } from '../testing/load.ts'
import { accept, replayModes, completeCall, type RunHandler, send, serve } from '../testing/rounds.ts'

const question = { message: 'What?', schema: z.object({}) }
const next = { a: accept(), b: accept() }

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  test('a tool that is shed five times over three instances gives the same bytes as one that never moved', async () => {
    const ran: string[] = []
    const run: RunHandler = async (ctx) => {
      const parts: unknown[] = [ctx.now(), ctx.uuid('id')]
      for (let index = 0; index < 3; index++) {
        const work = () => void ran.push(`step/${index}`)
        await ctx.step(`step/${index}`, work)
        parts.push(await ctx.step(`list/${index}`, () => [index, { nested: 'ü\u2028' }]))
      }
      const progress = ctx.checkpoint('loop', { done: 0, sum: 0 })
      while (progress.value.done < 4) {
        const { done, sum } = progress.value
        ran.push(`loop/${done}`)
        await progress.save({ done: done + 1, sum: sum + done })
      }
      return JSON.stringify([...parts, progress.value])
    }
    const began = Date.now()
    const fixed = { ...mode, runtime: { now: () => began, randomUuid: () => 'uuid' } }
    const still = await completeCall(serve(run, fixed))
    const once = ran.splice(0)
    const moved = await completeCall([
      serveOverloaded(run, fixed),
      serveOverloaded(run, fixed),
      serveOverloaded(run, fixed),
    ])
    expect([still.rounds.length, moved.rounds.length]).toEqual([0, 5])
    expect(JSON.stringify(moved.response)).toBe(JSON.stringify(still.response))
    expect(ran).toEqual(once)
  })

  test('branches beside the one that is shed come to the end of their steps, and none runs twice', async () => {
    const ran: string[] = []
    const branch = async (ctx: Context, name: string) => {
      for (let level = 0; level < 3; level++) {
        await ctx.step(`${name}/${level}`, async () => {
          for (let turn = 0; turn < level; turn++) await new Promise((resolve) => setImmediate(resolve))
          ran.push(`${name}/${level}`)
        })
      }
      return name
    }
    const run: RunHandler = async (ctx) =>
      (await Promise.all(['a', 'b', 'c'].map((name) => branch(ctx, name)))).join('')
    const options = { ...mode, shedding: { budget: 9 } }
    const { text, rounds } = await completeCall([serveOverloaded(run, options), serveOverloaded(run, options)])
    expect(text).toBe('abc')
    expect(rounds.length).toBeGreaterThan(1)
    expect(ran.toSorted()).toEqual(['a', 'b', 'c'].flatMap((name) => [0, 1, 2].map((level) => `${name}/${level}`)))
  })

  test('a call is not shed while it asks: the question brings it back anyway', async () => {
    const run: RunHandler = async (ctx) => {
      await Promise.all([ctx.elicit('a', question), ctx.step('one', () => 1)])
      return 'done'
    }
    const hand = createManualLoad(overloadedLoad, 100)
    const { text, asked } = await completeCall(serveWithLoad(hand, run, mode), next)
    expect([text, asked, hand.sheds]).toEqual(['done', [['a']], []])
  })

  test('a question that is asked in the turn of a shed goes out, and the shed does not count', async () => {
    const run: RunHandler = async (ctx) => {
      const asks = async () => {
        // Later than the end of the step, and still in the same turn of the event loop.
        for (let task = 0; task < 50; task++) await Promise.resolve()
        return ctx.elicit('a', question)
      }
      await Promise.all([ctx.step('one', () => 1), asks()])
      return 'done'
    }
    const hand = createManualLoad(overloadedLoad, 100)
    const served = serveWithLoad(hand, run, { ...mode, strictReplay: false })
    const { text, asked } = await completeCall(served, next)
    expect([text, asked, hand.sheds]).toEqual(['done', [['a']], []])
    expect(served.server.load).toMatchObject({ running: 0, counters: { handOffs: { load: 0 } } })
  })

  const ways: [string, (work: Promise<unknown>) => Promise<unknown>][] = [
    ['swallows it', (work) => work.catch(() => {})],
    ['throws another error in its place', (work) => work.catch(() => Promise.reject(new Error('other')))],
  ]
  test.each(ways)(
    'a handler that %s when it is to move is shed all the same, and its author is told',
    async (_, way) => {
      const ran: string[] = []
      const run: RunHandler = async (ctx) => {
        await way(ctx.step('one', () => void ran.push('one')))
        await way(ctx.step('two', () => void ran.push('two')))
        return 'done'
      }
      const busy = serveOverloaded(run, mode)
      const { text } = await completeCall([busy, serve(run, mode)])
      expect([text, ran]).toEqual(['done', ['one', 'two']])
      expect(busy.warnings).toMatchObject([{ code: 'swallowed' }])
      expect(busy.warnings[0]?.message).toContain('was to move to another instance and then')
    },
  )

  test('what cleans up knows that the call only moves, and ctx.signal aborts', async () => {
    const seen: unknown[] = []
    const run: RunHandler = async (ctx) => {
      try {
        await ctx.step('one', () => 1)
        return 'done'
      } catch (error) {
        seen.push(isSuspension(error), isSuspension(ctx.signal.reason))
        throw error
      } finally {
        seen.push('finally')
      }
    }
    await completeCall([
      serveOverloaded(run, { ...mode, strictReplay: false }),
      serve(run, { ...mode, strictReplay: false }),
    ])
    expect(seen).toEqual([true, true, 'finally', 'finally'])
  })

  test('a handler that does not wait for its step has its result, and needs not move', async () => {
    const run: RunHandler = (ctx) => {
      void ctx.step('one', () => 1)
      return Promise.resolve().then(() => 'done')
    }
    expect((await completeCall(serveOverloaded(run, { ...mode, strictReplay: false }))).text).toBe('done')
  })

  test('a misuse of the context is an error, shed or not', async () => {
    const run: RunHandler = async (ctx) => {
      const first = ctx.step('one', () => 1)
      await Promise.allSettled([first, ctx.step('one', () => 2)])
      return 'done'
    }
    const served = serveOverloaded(run, mode)
    expect((await completeCall(served)).isError).toBe(true)
    expect(served.reported).toMatchObject([{ error: { code: 'duplicate' } }])
  })

  test('answers to an explicit round and its state are kept when the call moves after it', async () => {
    const run: RunHandler = async (ctx) => {
      const name = ctx.responses.get('name')
      if (name === undefined || !('action' in name)) {
        const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } } as const
        return inputRequired({ requests: { name: { method: 'elicitation/create', params } }, state: { since: 7 } })
      }
      await ctx.step('one', () => 1)
      await ctx.step('two', () => 2)
      return JSON.stringify([name.content, ctx.state])
    }
    const { text, rounds } = await completeCall(serveOverloaded(run, mode), { name: accept({ name: 'Ada' }) })
    expect([text, rounds.length]).toEqual(['[{"name":"Ada"},{"since":7}]', 3])
  })

  test('answers that come with the retry of a shed are ignored, and nothing breaks [MRT-024]', async () => {
    const run: RunHandler = async (ctx) => {
      await ctx.step('one', () => 1)
      await ctx.elicit('a', question)
      return 'done'
    }
    const { state } = await send(serveOverloaded(run, mode))
    const early = await send(serve(run, mode), { state, responses: { a: accept(), z: accept() } })
    expect(Object.keys(early.requests)).toEqual(['a'])
    expect((await send(serve(run, mode), { state: early.state, responses: next })).text).toBe('done')
  })

  const unsealable: [string, () => Parameters<typeof serveWithLoad>[2]][] = [
    ['is too large to travel', () => ({ state: { ...sealedState({ keys }), seal: rejectAsTooLarge } })],
    ['cannot be stored, because the store is away', () => ({ state: storedState({ store: away }) })],
  ]
  test.each(unsealable)(
    'a call whose journal %s runs to its end where it is, without doing a step again',
    async (_, settings) => {
      const ran: number[] = []
      const run: RunHandler = async (ctx) => {
        for (const index of [1, 2, 3]) await ctx.step(`step/${index}`, () => ran.push(index))
        return ran.join()
      }
      const served = serveOverloaded(run, { ...mode, ...settings() })
      const { text, rounds } = await completeCall(served)
      expect([text, rounds]).toEqual(['1,2,3', []])
      expect(served.reported).toHaveLength(1)
      expect(served.server.load).toMatchObject({ running: 0, counters: { handOffs: { load: 0 } } })
    },
  )

  test('a hand-off that could not be sealed is not counted', async () => {
    const store = memoryStore()
    let isAway = true
    const add: typeof store.add = (...args) => {
      if (isAway) {
        isAway = false
        return Promise.reject(new Error('no connection'))
      }
      return store.add(...args)
    }
    const counts: number[] = []
    const policy = (_: unknown, { shedCount }: SheddingCall) => counts.push(shedCount) === 1
    const run: RunHandler = async (ctx) => {
      await ctx.step('one', () => 1)
      await ctx.elicit('a', question)
      await ctx.step('two', () => 2)
      return 'done'
    }
    const state = storedState({ store: { ...store, forOwner: undefined, add } })
    const served = serveWithLoad(createManualLoad(), run, { ...mode, state, shedding: { policy } })
    expect((await completeCall(served, next)).text).toBe('done')
    expect(isAway).toBe(false)
    expect(counts.length).toBeGreaterThan(1)
    expect(new Set(counts)).toEqual(new Set([0]))
  })
})

const keys = ['790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef']
const rejectAsTooLarge = () => Promise.reject(new StateUsageError('too_large', 'The state is too large'))
const away = { ...memoryStore(), forOwner: undefined, add: () => Promise.reject(new Error('no connection')) }

test('a call may be stopped wherever it is, any number of times, and comes to the same end with every step done once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 12 }),
      fc.integer({ min: 1, max: 8 }),
      async (stops, steps) => {
        const ran: number[] = []
        const pattern = [...stops]
        const run: RunHandler = async (ctx) => {
          for (let index = 0; index < steps; index++) await ctx.step(`step/${index}`, () => ran.push(index))
          return 'done'
        }
        const policy = () => pattern.shift() === true
        const served = serveWithLoad(createManualLoad(), run, {
          strictReplay: false,
          shedding: { policy, budget: 100 },
        })
        const { text, rounds } = await completeCall([served, served, served])
        expect(text).toBe('done')
        expect(ran).toEqual(Array.from({ length: steps }, (_, index) => index))
        expect(rounds).toHaveLength(stops.slice(0, steps).filter(Boolean).length)
      },
    ),
    { numRuns: 60 },
  )
})
