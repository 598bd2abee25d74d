import { describe, expect, test } from 'vitest'
import { createManualLoad, overloadedLoad, serveWithLoad } from '../testing/load.ts'
import {
  createStateRecorder,
  completeCall,
  type Round,
  type RunHandler,
  send,
  type TestServer,
} from '../testing/rounds.ts'

/** Records so many steps. */
function counting(steps: number): RunHandler {
  return async (ctx) => {
    for (let index = 0; index < steps; index++) await ctx.step(`step/${index}`, () => index)
    return 'done'
  }
}

const began = Date.now()

/** One instance of a fleet: with a load of its own, on a clock that all share. */
function instance(clock: { time: number }, load = overloadedLoad, settings: Parameters<typeof serveWithLoad>[2] = {}) {
  const hand = createManualLoad(load)
  const now = () => clock.time
  const wallClock = () => began + clock.time
  const served = serveWithLoad(hand, counting(3), {
    strictReplay: false,
    runtime: { monotonicNow: now, now: wallClock },
    ...settings,
  })
  return { ...served, hand }
}

const isHandedOff = ({ state }: Round): boolean => state !== undefined

/** Hands a call off at an instance of this load, and gives its state. */
async function comingFrom(clock: { time: number }, load = overloadedLoad): Promise<string | undefined> {
  return (await send(instance(clock, load))).state
}

describe('an overloaded instance compares itself with the others', () => {
  const cases: [string, number, boolean][] = [
    ['keeps a call that comes from one that is as busy', 1000, false],
    ['keeps a call that comes from one that is a little less busy', 700, false],
    ['hands a call off that comes from one that is clearly less busy', 100, true],
  ]
  test.each(cases)('it %s', async (_, eventLoopDelayMs, isExpected) => {
    const clock = { time: 0 }
    const state = await comingFrom(clock, { eventLoopDelayMs })
    expect(state).toBeDefined()
    expect(isHandedOff(await send(instance(clock), { state }))).toBe(isExpected)
  })

  test('between two that are equally busy no call goes back within five seconds', async () => {
    const clock = { time: 0 }
    const here = instance(clock, overloadedLoad, { shedding: { budget: 10 } })
    const state = await comingFrom(clock)
    for (; clock.time <= 5000; clock.time += 250) expect(isHandedOff(await send(here, { state }))).toBe(false)
  })

  test('loads that arriving states report count for calls that never moved, too', async () => {
    const clock = { time: 0 }
    const here = instance(clock)
    for (let count = 0; count < 5; count++) await send(here, { state: await comingFrom(clock) })
    expect(isHandedOff(await send(here))).toBe(false)
  })

  test('when nothing more is heard of the others, it hands off again within 15 seconds', async () => {
    const clock = { time: 0 }
    const here = instance(clock)
    for (let count = 0; count < 5; count++) await send(here, { state: await comingFrom(clock) })
    clock.time += 1000
    expect(isHandedOff(await send(here))).toBe(false)
    clock.time += 14_000
    expect(isHandedOff(await send(here))).toBe(true)
  })

  test('an old state that is sent again does not change the view of the fleet', async () => {
    const clock = { time: 0 }
    const states = await Promise.all(Array.from({ length: 10 }, () => comingFrom(clock)))
    clock.time += 20_001
    const here = instance(clock)
    for (const state of states) await send(here, { state })
    clock.time += 250
    expect(isHandedOff(await send(here))).toBe(true)
  })

  test('a report from the future has the age 0', async () => {
    const ahead = { time: 3_600_000 }
    const clock = { time: 0 }
    const state = await comingFrom(ahead)
    expect(isHandedOff(await send(instance(clock), { state }))).toBe(false)
  })
})

describe('where the balancer brings every call back', () => {
  /** Lets calls come back until they stay, and gives when they were handed off. */
  async function handOffs(served: TestServer, clock: { time: number }, forMs: number): Promise<number[]> {
    const times: number[] = []
    for (const end = clock.time + forMs; clock.time < end; clock.time += 250) {
      const { state } = await send(served)
      if (state === undefined) continue
      times.push(clock.time)
      await send(served, { state })
    }
    return times
  }

  test('a lone instance hands off four calls, and then one in ten seconds', async () => {
    const clock = { time: 0 }
    const times = await handOffs(instance(clock, overloadedLoad, { shedding: { budget: 1 } }), clock, 30_000)
    expect(times.slice(0, 4)).toEqual([0, 250, 500, 750])
    expect(times.slice(4)).toEqual([10_750, 20_750])
  })

  test('a client that sends one state a thousand times does not make it believe that', async () => {
    const clock = { time: 0 }
    const here = instance(clock, overloadedLoad, { shedding: { budget: 1 } })
    const { state } = await send(here)
    for (let count = 0; count < 1000; count++) await send(here, { state })
    for (let count = 0; count < 5; count++) {
      clock.time += 250
      expect(isHandedOff(await send(here))).toBe(true)
    }
  })

  test('it hands off as before once calls go elsewhere again', async () => {
    const clock = { time: 0 }
    const here = instance(clock, overloadedLoad, { shedding: { budget: 1 } })
    await handOffs(here, clock, 5000)
    let last = clock.time
    for (let count = 0; count < 160; count++) {
      clock.time += 250
      if (isHandedOff(await send(here))) last = clock.time
    }
    expect(clock.time - last).toBe(0)
  })
})

test('the state says in 40 bytes whose load made the call move', async () => {
  const { codec, sealed } = createStateRecorder()
  const load = { eventLoopDelayMs: 1e9 }
  await send(serveWithLoad(createManualLoad(load), counting(2), { strictReplay: false, state: codec }))
  const [text = ''] = sealed
  const tag: unknown = JSON.parse(text).from
  expect(tag).toEqual([expect.stringMatching(/^[\w-]{8}$/), 9999, expect.any(Number)])
  expect(`"from":${JSON.stringify(tag)},`.length).toBeLessThanOrEqual(41)
})

test('two servers of one process have different names', async () => {
  const { codec, sealed } = createStateRecorder()
  for (let count = 0; count < 2; count++)
    await send(serveWithLoad(createManualLoad(overloadedLoad), counting(2), { state: codec }))
  const [first, second] = sealed.map((text) => JSON.parse(text).from[0])
  expect(first).not.toBe(second)
})

describe('an instance that stops', () => {
  test('hands a call without budget off as well, which would be lost with it', async () => {
    const clock = { time: 0 }
    const here = instance(clock, overloadedLoad, { shedding: { budget: 0, minWorkMs: 0 } })
    here.server.drain()
    expect(isHandedOff(await send(here))).toBe(true)
  })

  test('takes nothing of the budget for load', async () => {
    const clock = { time: 0 }
    const stopping = instance(clock, { eventLoopDelayMs: 0 })
    stopping.server.drain()
    const first = await send(stopping)
    const { state } = await send(instance(clock, overloadedLoad, { shedding: { budget: 1 } }), { state: first.state })
    expect(state).toBeDefined()
  })

  test('a stopping instance hands all running calls off, and ignores the load of the other instances', async () => {
    const clock = { time: 0 }
    const here = instance(clock)
    for (let count = 0; count < 5; count++) await send(here, { state: await comingFrom(clock) })
    here.server.drain()
    const rounds = await Promise.all(Array.from({ length: 20 }, () => send(here)))
    expect(rounds.every(isHandedOff)).toBe(true)
  })

  test('says nothing of its load, which is not what made the call move', async () => {
    const { codec, sealed } = createStateRecorder()
    const here = instance({ time: 0 }, overloadedLoad, { state: codec })
    here.server.drain()
    await send(here)
    expect(JSON.parse(sealed[0] ?? '')).toMatchObject({ stops: 1 })
    expect(sealed[0]).not.toContain('"from"')
  })
})

test('an instance that sheds calls stays ready, however late its event loop is', async () => {
  const clock = { time: 0 }
  const here = instance(clock, { eventLoopDelayMs: 5000 })
  for (; clock.time < 30_000; clock.time += 1000) {
    await send(here)
    expect(here.server.load.ready).toBe(true)
  }
  expect(here.server.load.counters.handOffs.load).toBeGreaterThan(0)
})

test('a call that is handed off for load everywhere runs to its end, with every step done once', async () => {
  const clock = { time: 0 }
  const ran: number[] = []
  const run: RunHandler = async (ctx) => {
    for (let index = 0; index < 30; index++) {
      await ctx.step(`step/${index}`, () => {
        clock.time += 300
        ran.push(index)
      })
    }
    return 'done'
  }
  const now = () => clock.time
  const fleet = [0, 1, 2].map(() =>
    serveWithLoad(createManualLoad(overloadedLoad), run, { strictReplay: false, runtime: { monotonicNow: now } }),
  )
  const [first, ...more] = fleet
  if (first === undefined) throw new Error('there are three')
  expect((await completeCall([first, ...more])).text).toBe('done')
  expect(ran).toEqual(Array.from({ length: 30 }, (_, index) => index))
})
