import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createManualLoad, serveWithLoad } from '../testing/load.ts'
import { accept, handlerKinds, completeCall, type RunHandler, send, serve } from '../testing/rounds.ts'

const question = { message: 'What?', schema: z.object({}) }
const next = { a: accept() }

describe('draining', () => {
  test.each(handlerKinds)(
    'a running $kind leaves at the end of its step, without its minimum of work and beyond its budget',
    async (kind) => {
      const hand = createManualLoad()
      let begin = () => {}
      let finish = () => {}
      const begun = new Promise<void>((resolve) => {
        begin = resolve
      })
      const ran: string[] = []
      const run: RunHandler = async (ctx) => {
        await ctx.step('long', async () => {
          ran.push('long')
          begin()
          await new Promise<void>((resolve) => {
            finish = resolve
          })
        })
        await ctx.step('short', () => void ran.push('short'))
        return 'done'
      }
      const log = vi.fn()
      const options = { kind, log, strictReplay: false, shedding: { minWorkMs: 60_000, budget: 0 } }
      const served = serveWithLoad(hand, run, options)
      const running = send(served)
      await begun
      expect(served.server.load).toMatchObject({ ready: true, draining: false, running: 1 })
      const undrain = served.server.drain()
      expect(served.server.load).toMatchObject({ ready: false, draining: true })
      finish()
      const { state } = await running
      expect((await send(serveWithLoad(createManualLoad(), run, options), { state })).text).toBe('done')
      expect(ran).toEqual(['long', 'short'])
      expect(hand.sheds).toMatchObject([{ reason: 'stopping', handOffCount: 1 }])
      expect(served.server.load.counters.handOffs.stopping).toBe(1)
      undrain()
      const message = '1 call moved to other instances, because this one stops'
      expect(log.mock.calls).toEqual([[{ level: 'info', message }]])
    },
  )

  test('a call that comes afterwards works for its minimum, and leaves at once when a stop is announced again', async () => {
    const hand = createManualLoad()
    const run: RunHandler = async (ctx) => {
      for (let index = 0; index < 6; index++) {
        await ctx.step(`step/${index}`, () => {
          hand.time += 100
          if (index === 4) served.server.drain({ graceMs: 0 })
        })
      }
      return 'done'
    }
    const served = serveWithLoad(hand, run, { strictReplay: false, shedding: { minWorkMs: 300 } })
    served.server.drain()
    const first = await send(served)
    expect(hand.time).toBe(300)
    const second = await send(served, { state: first.state })
    expect([second.state !== undefined, hand.time]).toEqual([true, 500])
  })

  const counting: RunHandler = async (ctx) => {
    for (let index = 0; index < 40; index++) await ctx.step(`step/${index}`, () => index)
    return 'done'
  }

  test('keeps calls while balancers may still choose the instance, and hands those off that came meanwhile [UNA-005]', async () => {
    const hand = createManualLoad()
    const run: RunHandler = async (ctx) => {
      for (let index = 0; index < 6; index++) {
        await ctx.step(`step/${index}`, () => {
          hand.time += 100
          if (index === 3) served.server.drain({ graceMs: 1000 })
        })
      }
      return 'done'
    }
    const served = serveWithLoad(hand, run, { strictReplay: false, shedding: { minWorkMs: 60_000 } })
    served.server.drain({ keepCalls: true })
    expect(served.server.load).toMatchObject({ ready: false, draining: true })
    const { state } = await send(served)
    expect([state !== undefined, hand.time]).toEqual([true, 400])
  })

  /** Sends a call to one stopping instance after the other, and returns what the last one answered. */
  const stopRepeatedly = async (times: number, run: RunHandler) => {
    let round = await send(stopping(run))
    for (let count = 1; count < times; count++) round = await send(stopping(run), { state: round.state })
    return round
  }
  const stopping = (run: RunHandler) => {
    const served = serveWithLoad(createManualLoad(), run, { strictReplay: false })
    served.server.drain({ graceMs: 0 })
    return served
  }

  test('hands a call off nine times, and keeps it then: many clients give up at the tenth result [UNA-005]', async () => {
    const { state } = await stopRepeatedly(9, counting)
    expect(state).toEqual(expect.any(String))
    expect((await send(stopping(counting), { state })).text).toBe('done')
  })

  test('counts questions among the nine', async () => {
    const run: RunHandler = async (ctx) => {
      for (const key of ['a', 'b', 'c']) await ctx.elicit(key, question)
      return counting(ctx)
    }
    const served = serveWithLoad(createManualLoad(), run, { strictReplay: false })
    let { state } = await send(served)
    for (const key of ['a', 'b']) ({ state } = await send(served, { state, responses: { [key]: accept() } }))
    ;({ state } = await send(stopping(run), { state, responses: { c: accept() } }))
    for (let count = 1; count < 6; count++) ({ state } = await send(stopping(run), { state }))
    expect(state).toEqual(expect.any(String))
    expect((await send(stopping(run), { state })).text).toBe('done')
  })

  test.each([
    [0, 100],
    [1, 500],
    [2, 500],
    [3, 800],
    [8, 800],
  ])('lets a call with %i hand-offs work for %i ms of a grace of 1,000 first [UNA-005]', async (times, workedMs) => {
    const state = times === 0 ? undefined : (await stopRepeatedly(times, counting)).state
    const hand = createManualLoad()
    const run: RunHandler = async (ctx) => {
      for (let index = 0; index < 40; index++) await ctx.step(`step/${index}`, () => void (hand.time += 100))
      return 'done'
    }
    const served = serveWithLoad(hand, run, { strictReplay: false })
    served.server.drain({ graceMs: 1000 })
    const left = await send(served, { state })
    expect([left.state !== undefined, hand.time]).toEqual([true, workedMs])
  })

  test('with a time that is no number is refused', () => {
    const { server } = serveWithLoad(createManualLoad(), () => 'plain')
    expect(() => server.drain({ graceMs: Number.NaN })).toThrow('graceMs is NaN: write a number from 0')
  })

  test('what was announced is taken back once, by the one that announced it', async () => {
    const { server } = serveWithLoad(createManualLoad(), () => 'plain')
    const [first, second] = [server.drain(), server.drain()]
    first()
    first()
    expect(server.load.ready).toBe(false)
    second()
    expect(server.load).toMatchObject({ ready: true, draining: false })
  })

  test('what cannot move, and what records nothing, is served to its end', async () => {
    const memory = serve(async (ctx) => String(await ctx.step('one', () => 1)))
    memory.server.drain()
    expect((await completeCall(memory)).text).toBe('1')
    const plain = serveWithLoad(createManualLoad(), () => 'plain')
    plain.server.drain()
    expect((await completeCall(plain)).text).toBe('plain')
  })

  test('a state that a client had before is accepted by the next instance', async () => {
    const run: RunHandler = async (ctx) => {
      await ctx.step('one', () => 1)
      await ctx.elicit('a', question)
      return 'done'
    }
    const old = serveWithLoad(createManualLoad(), run)
    const { state } = await send(old)
    old.server.drain()
    expect((await send(serveWithLoad(createManualLoad(), run), { state, responses: next })).text).toBe('done')
  })
})
