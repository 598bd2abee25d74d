import { describe, expect, test } from 'vitest'
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
      const options = { kind, strictReplay: false, shedding: { minWorkMs: 60_000, budget: 0 } }
      const served = serveWithLoad(hand, run, options)
      const running = send(served)
      await begun
      expect(served.server.load).toMatchObject({ ready: true, draining: false, running: 1 })
      served.server.drain()
      expect(served.server.load).toMatchObject({ ready: false, draining: true })
      finish()
      const { state } = await running
      expect((await send(serveWithLoad(createManualLoad(), run, options), { state })).text).toBe('done')
      expect(ran).toEqual(['long', 'short'])
      expect(hand.sheds).toMatchObject([{ reason: 'stopping', shedCount: 1 }])
      expect(served.server.load.counters.sheds.stopping).toBe(1)
    },
  )

  test('a call that comes afterwards works for its minimum, and leaves at once when the server is told again', async () => {
    const hand = createManualLoad()
    const run: RunHandler = async (ctx) => {
      for (let index = 0; index < 6; index++) {
        await ctx.step(`step/${index}`, () => {
          hand.time += 100
          if (index === 4) served.server.drain()
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

  test('what was told is taken back once, by whoever told it', async () => {
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

  test('what was left with a client before is taken by the next instance', async () => {
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
