import { errorCodes } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, type HardLimit } from '../index.ts'
import { type SheddingCall, type SheddingSettings, sheddingSettings } from '../internals.ts'
import { resultOf } from '../testing/ask.ts'
import { createManualLoad, overloadedLoad, serveWithLoad } from '../testing/load.ts'
import { accept, handlerKinds, replayModes, completeCall, type RunHandler, send, serve } from '../testing/rounds.ts'

const question = { message: 'What?', schema: z.object({}) }
const oneStep: RunHandler = async (ctx) => String(await ctx.step('one', () => 1))

/** Records a step or a checkpoint so often, and says how often each was done. */
function counting(steps: number, ran: string[] = []): RunHandler {
  return async (ctx) => {
    for (let index = 0; index < steps; index++) await ctx.step(`step/${index}`, () => void ran.push(`step/${index}`))
    return ran.join(' ')
  }
}

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  test.each(handlerKinds)(
    'a $kind on an overloaded instance answers with requestState alone at the end of a step, and continues after the step [MRT-014]',
    async (kind) => {
      const ran: string[] = []
      const busy = createManualLoad(overloadedLoad)
      const shed = await send(serveWithLoad(busy, counting(2, ran), { ...mode, kind }))
      expect(shed.response).toHaveProperty('result.resultType', 'input_required')
      expect(shed.response).not.toHaveProperty('result.inputRequests')
      expect(shed.state).toMatch(/^[\w.-]+$/)
      expect(ran).toEqual(['step/0'])
      const idle = serveWithLoad(createManualLoad(), counting(2, ran), { ...mode, kind })
      const { text } = await send(idle, { state: shed.state })
      expect([text, ran]).toEqual(['step/0 step/1', ['step/0', 'step/1']])
      const { name } = { name: 'do', ...kind.params, ...(kind.kind === 'resource' && { name: 'do://it' }) }
      const load = { running: 0, eventLoopDelayMs: 1000, heapShare: undefined }
      expect(busy.sheds).toEqual([{ method: kind.method, name, reason: 'load', handOffCount: 1, load }])
    },
  )

  test('a call is also handed off at a checkpoint, and continues from its value', async () => {
    const seen: number[] = []
    const run: RunHandler = async (ctx) => {
      const progress = ctx.checkpoint('loop', 0)
      while (progress.value < 4) {
        seen.push(progress.value)
        await progress.save(progress.value + 1)
      }
      return String(progress.value)
    }
    const busy = createManualLoad(overloadedLoad)
    const idle = serveWithLoad(createManualLoad(), run, mode)
    const { text, rounds } = await completeCall([serveWithLoad(busy, run, mode), idle])
    expect([text, rounds.length, seen]).toEqual(['4', 1, [0, 1, 2, 3]])
  })

  test('an idle instance hands off no call', async () => {
    const hand = createManualLoad({ eventLoopDelayMs: 25, heapShare: 0.85 })
    const { text, rounds } = await completeCall(serveWithLoad(hand, oneStep, mode))
    expect([text, rounds, hand.sheds]).toEqual(['1', [], []])
  })

  const limits: [string, SheddingSettings, object][] = [
    ['the event loop is late', { maxEventLoopDelayMs: 20 }, { eventLoopDelayMs: 21 }],
    ['the heap is nearly full', { maxHeapShare: 0.5 }, { heapShare: 0.51 }],
    ['too many calls run', { maxRunningCalls: 3 }, { running: 4 }],
  ]
  test.each(limits)('a call moves when %s', async (_, shedding, load) => {
    const hand = createManualLoad()
    const served = serveWithLoad(hand, oneStep, { ...mode, shedding })
    expect((await send(served)).text).toBe('1')
    hand.load = { ...hand.load, ...load }
    hand.time = 100
    expect((await send(served)).state).toBeDefined()
  })

  test('a call that records nothing is never shed', async () => {
    const hand = createManualLoad(overloadedLoad)
    const asks: RunHandler = async (ctx) => {
      await ctx.elicit('a', question)
      return 'done'
    }
    expect((await send(serveWithLoad(hand, () => 'plain', mode))).text).toBe('plain')
    const { text, asked } = await completeCall(serveWithLoad(hand, asks, mode), { a: accept() })
    expect([text, asked, hand.sheds]).toEqual(['done', [['a']], []])
  })

  test('a call that a policy sheds everywhere runs to its end once its budget is used up', async () => {
    const ran: string[] = []
    const hands = [1, 2, 3].map(() => createManualLoad(overloadedLoad, 100))
    const policy = () => true
    const [first, ...more] = hands.map((hand) =>
      serveWithLoad(hand, counting(20, ran), { ...mode, shedding: { policy } }),
    )
    if (first === undefined) throw new Error('there are three')
    const played = await completeCall([first, ...more])
    expect(played.rounds).toHaveLength(5)
    expect(hands.flatMap(({ sheds }) => sheds.map((event) => event.handOffCount)).sort()).toEqual([1, 2, 3, 4, 5])
    expect(new Set(ran).size).toBe(ran.length)
    expect(ran).toHaveLength(20)
  })

  test.each([
    [0, 0],
    [1, 1],
    [3, 3],
  ])('with a budget of %i it is shed %i times', async (budget, sheds) => {
    const hand = createManualLoad(overloadedLoad, 100)
    const played = await completeCall(serveWithLoad(hand, counting(6), { ...mode, shedding: { budget } }))
    expect(played.rounds).toHaveLength(sheds)
  })

  test('questions beyond the third reduce the budget, so that a call has at most ten rounds', async () => {
    const hand = createManualLoad(overloadedLoad, 100)
    const run: RunHandler = async (ctx) => {
      for (let index = 0; index < 6; index++) await ctx.elicit(`ask/${index}`, question)
      for (let index = 0; index < 6; index++) await ctx.step(`step/${index}`, () => index)
      return 'done'
    }
    const answers = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`ask/${index}`, accept()]))
    const played = await completeCall(serveWithLoad(hand, run, mode), answers)
    expect([played.text, played.rounds.length]).toEqual(['done', 8])
    expect(hand.sheds.map(({ handOffCount }) => handOffCount)).toEqual([1, 2])
  })

  test('hand-offs are not rounds, so that no warning says that a call asks too often', async () => {
    const hand = createManualLoad(overloadedLoad, 100)
    const served = serveWithLoad(hand, counting(20), { ...mode, shedding: { budget: 12, policy: () => true } })
    const { rounds } = await completeCall(served)
    expect([rounds.length, served.warnings]).toEqual([12, []])
  })

  test('a call works for its minimum at each instance before it moves', async () => {
    const hand = createManualLoad(overloadedLoad)
    const run: RunHandler = async (ctx) => {
      const progress = ctx.checkpoint('loop', 0)
      while (progress.value < 10) {
        hand.time += 80
        await progress.save(progress.value + 1)
      }
      return 'done'
    }
    const served = serveWithLoad(hand, run, { ...mode, shedding: { minWorkMs: 240 } })
    const calls: SheddingCall[] = []
    const policy: NonNullable<SheddingSettings['policy']> = (_, call) => calls.push(call) > 0
    const watched = serveWithLoad(hand, run, { ...mode, shedding: { minWorkMs: 240, policy } })
    expect((await completeCall(served)).rounds).toHaveLength(3)
    expect((await completeCall(watched)).rounds).toHaveLength(3)
    expect(calls.map(({ workedMs }) => workedMs)).toEqual([240, 240, 240])
  })

  test('a policy decides in place of the limits, and knows the load and the call', async () => {
    const hand = createManualLoad(overloadedLoad)
    const seen: unknown[] = []
    const policy: NonNullable<SheddingSettings['policy']> = (...about) => {
      seen.push(about)
      return about[1].shedCount < 2
    }
    const served = serveWithLoad(hand, counting(3), { ...mode, shedding: { policy, maxEventLoopDelayMs: 1 } })
    expect((await completeCall(served)).rounds).toHaveLength(2)
    const load = { running: 1, eventLoopDelayMs: 1000, heapShare: undefined }
    const call = { method: 'tools/call', name: 'do', roundCount: 0, workedMs: 0 }
    expect(seen).toEqual([0, 1, 2].map((shedCount) => [load, { ...call, shedCount }]))
    expect(hand.sheds.map(({ reason }) => reason)).toEqual(['policy', 'policy'])
    expect(served.server.load.counters.handOffs).toEqual({ load: 0, policy: 2, stopping: 0 })
  })

  test.each(['policy', 'load'] as const)('a %s that throws costs no call anything', async (name) => {
    const hand = createManualLoad(overloadedLoad)
    const broken = () => {
      throw new Error(`${name} is broken`)
    }
    const served = serveWithLoad(hand, oneStep, { ...mode, shedding: { [name]: broken } })
    expect((await completeCall(served)).text).toBe('1')
    const told =
      name === 'load' ? served.warnings.map(({ message }) => message) : served.reported.map(({ error }) => error)
    expect(told).toHaveLength(1)
    expect(String(told[0])).toContain(`${name} is broken`)
  })

  test('after a wave of sheds an instance measures again before the next, so that it does not empty itself at once', async () => {
    const hand = createManualLoad(overloadedLoad)
    const open: (() => void)[] = []
    const run: RunHandler = async (ctx) => {
      await new Promise<void>((resolve) => void open.push(resolve))
      return oneStep(ctx)
    }
    const served = serveWithLoad(hand, run, { strictReplay: false })
    const calls = Array.from({ length: 16 }, () => send(served))
    expect(served.server.load.running).toBe(16)
    for (const go of open.splice(0)) go()
    const first = await Promise.all(calls)
    expect(first.filter(({ state }) => state !== undefined)).toHaveLength(2)
    expect(served.server.load.counters.handOffs.load).toBe(2)
  })

  test('calls beyond maxRunningCalls move an eighth at a time, until it has fallen to four fifths', async () => {
    const hand = createManualLoad()
    const open: (() => void)[] = []
    const run: RunHandler = async (ctx) => {
      for (let index = 0; index < 4; index++) {
        await new Promise<void>((resolve) => void open.push(resolve))
        await ctx.step(`step/${index}`, () => 1)
      }
      return 'done'
    }
    const served = serveWithLoad(hand, run, { strictReplay: false, shedding: { maxRunningCalls: 10 } })
    const calls = Array.from({ length: 12 }, () => send(served))
    for (const left of [10, 8, 8]) {
      for (const go of open.splice(0)) go()
      await expect.poll(() => open.length).toBe(left)
      hand.time += 200
    }
    for (const go of open.splice(0)) go()
    const ended = await Promise.all(calls)
    expect(ended.filter(({ text }) => text === 'done')).toHaveLength(8)
    expect(served.server.load).toMatchObject({ running: 0, counters: { handOffs: { load: 4 } } })
  })
})

describe('which calls may move', () => {
  const cases: [string, SheddingSettings | false | undefined, boolean | undefined, boolean][] = [
    ['a call that can be handed off by default', undefined, true, true],
    ['a call in memory or over stdio by default', undefined, undefined, false],
    ['any call where all may', { calls: 'all' }, undefined, true],
    ['a call that can be handed off where it is switched off', false, true, false],
  ]
  test.each(cases)('%s', async (_, shedding, canHandOff, moves) => {
    const policy = () => true
    const chosen = shedding === false ? false : sheddingSettings({ ...shedding, minWorkMs: 0, policy })
    const { state, text } = await send(serve(oneStep, { shedding: chosen }), {}, { canHandOff })
    expect([state !== undefined, text]).toEqual(moves ? [true, undefined] : [false, '1'])
  })

  test.each([[undefined], [false]] as const)(
    'none of a server whose state is %s: no other could go on',
    async (state) => {
      const shedding = sheddingSettings({ minWorkMs: 0, policy: () => true })
      const served = serve(oneStep, { state, shedding })
      expect((await send(served, {}, { canHandOff: true })).text).toBe('1')
      expect(served.reported).toEqual([])
    },
  )
})

test.each<[HardLimit, string]>([
  [{ running: 0 }, 'shedding.hardLimit.running is 0: write a number from 1'],
  [{ eventLoopDelayMs: Number.NaN }, 'shedding.hardLimit.eventLoopDelayMs is NaN: write a number from 1'],
])('the hard limit %o is refused', (hardLimit, message) => {
  const create = () => createServer({ name: 'demo', version: '1', shedding: { hardLimit } })
  expect(create).toThrow(new RangeError(message))
})

describe('the hard limit', () => {
  const overloadedError = {
    code: errorCodes.internal,
    message: 'The server is at its hard limit (running is 1) and has not begun this request: try again in 250 ms',
    data: { reason: 'overloaded', limit: 'hardLimit.running', max: 1, retryAfterMs: 250 },
  }

  test.each(handlerKinds)(
    'a $kind beyond it is refused before its handler runs, and when to come again is said',
    async (kind) => {
      const hand = createManualLoad()
      let begun = 0
      let finish = () => {}
      const run: RunHandler = async () => {
        begun++
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return 'done'
      }
      const shedding = { hardLimit: { running: 1 }, retryAfterMs: 250 }
      const served = serveWithLoad(hand, run, { kind, strictReplay: false, shedding })
      const running = send(served)
      expect(served.server.load.ready).toBe(false)
      expect((await send(served)).error).toEqual(overloadedError)
      finish()
      expect((await running).text).toBe('done')
      expect([begun, served.server.load.counters.rejected, served.server.load.ready]).toEqual([1, 1, true])
    },
  )

  test('a call that returns with its state is accepted up to twice the limit, because its work would be lost', async () => {
    const hand = createManualLoad(overloadedLoad)
    const served = serveWithLoad(hand, counting(2))
    const { state } = await send(served)
    const strict = serveWithLoad(hand, counting(2), { shedding: { budget: 1, hardLimit: { eventLoopDelayMs: 600 } } })
    hand.time = 100
    // Whoever looks at the load measures it.
    expect(strict.server.load.ready).toBe(false)
    expect((await send(strict)).error?.data).toMatchObject({ reason: 'overloaded' })
    expect((await send(strict, { state })).text).toBe('step/1')
    hand.load = { eventLoopDelayMs: 1201 }
    hand.time = 200
    expect(strict.server.load.eventLoopDelayMs).toBe(1201)
    expect((await send(strict, { state })).error?.data).toMatchObject({ reason: 'overloaded' })
  })

  test('a list is answered beyond it', async () => {
    const hand = createManualLoad(overloadedLoad)
    const served = serveWithLoad(hand, oneStep, { shedding: { hardLimit: { eventLoopDelayMs: 1 } } })
    expect(served.server.load.ready).toBe(false)
    expect(await resultOf(served.server, 'tools/list')).toMatchObject({ tools: [{ name: 'do' }] })
    expect(await resultOf(served.server, 'server/discover')).toHaveProperty('capabilities')
  })
})
