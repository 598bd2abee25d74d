import { describe, expect, test } from 'vitest'
import { sendRequest } from '../testing/ask.ts'
import { createManualLoad, serveWithLoad } from '../testing/load.ts'
import { completeCall, type RunHandler, send } from '../testing/rounds.ts'

/** Saves so often, each time after so many milliseconds of computing. */
const computing = (hand: { time: number }, saves: number, ms: number, saved: () => void = () => {}): RunHandler => {
  return async (ctx) => {
    const progress = ctx.checkpoint('loop', 0)
    while (progress.value < saves) {
      hand.time += ms
      saved()
      await progress.save(progress.value + 1)
    }
    return 'done'
  }
}

/** How often work goes on while something else waits for its turn of the event loop. */
async function workedUntilTurn(start: (worked: () => void) => Promise<unknown>): Promise<number> {
  let count = 0
  let counted = 0
  const turn = new Promise<void>((resolve) => {
    setImmediate(() => {
      counted = count
      resolve()
    })
  })
  await start(() => void count++)
  await turn
  return counted
}

describe('a handler that computes from checkpoint to checkpoint', () => {
  test.each([
    [1, 10],
    [4, 3],
    [10, 1],
    [50, 1],
  ])('of %i ms each lets others have their turn after %i of them', async (ms, chunks) => {
    const hand = createManualLoad()
    const work = (worked: () => void) =>
      completeCall(serveWithLoad(hand, computing(hand, 100, ms, worked), { strictReplay: false }))
    expect(await workedUntilTurn(work)).toBe(chunks)
  })

  test('does not wait where the loop is not held up', async () => {
    const hand = createManualLoad()
    const work = (worked: () => void) =>
      completeCall(serveWithLoad(hand, computing(hand, 1000, 0, worked), { strictReplay: false }))
    expect(await workedUntilTurn(work)).toBe(1000)
  })

  test('lets other calls be answered before it ends', async () => {
    const hand = createManualLoad()
    const answered: number[] = []
    let saves = 0
    const served = serveWithLoad(
      hand,
      computing(hand, 200, 5, () => void saves++),
      { strictReplay: false },
    )
    const running = send(served)
    for (let turn = 0; saves < 200 && turn < 1000; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      await sendRequest(served.server, 'tools/list')
      answered.push(saves)
    }
    expect((await running).text).toBe('done')
    expect(answered.length).toBeGreaterThan(50)
  })

  test('shares its slice with others that compute, so that ten of them hold up the loop no longer than one', async () => {
    const hand = createManualLoad()
    const served = serveWithLoad(
      hand,
      computing(hand, 100, 1, () => {}),
      { strictReplay: false },
    )
    const calls = Array.from({ length: 10 }, () => send(served))
    const held: number[] = []
    let last = hand.time
    let left = calls.length
    for (const call of calls) void call.finally(() => left--)
    while (left > 0) {
      await new Promise((resolve) => setImmediate(resolve))
      held.push(hand.time - last)
      last = hand.time
    }
    expect(hand.time).toBe(1000)
    // The first turn has all ten beginning, each with a slice of its own.
    expect(Math.max(...held.slice(2))).toBeLessThanOrEqual(30)
  })
})

test('steps that compute let others have their turn as well', async () => {
  const hand = createManualLoad()
  const run = (worked: () => void): RunHandler => {
    return async (ctx) => {
      for (let index = 0; index < 20; index++) {
        await ctx.step(`step/${index}`, () => {
          hand.time += 6
          worked()
        })
      }
      return 'done'
    }
  }
  const work = (worked: () => void) => completeCall(serveWithLoad(hand, run(worked), { strictReplay: false }))
  expect(await workedUntilTurn(work)).toBe(2)
})

test('the signal of a computing handler aborts when its call is cancelled', async () => {
  const hand = createManualLoad()
  const controller = new AbortController()
  let saves = 0
  const run: RunHandler = async (ctx) => {
    const progress = ctx.checkpoint('loop', 0)
    while (!ctx.signal.aborted && saves < 10_000) {
      hand.time += 5
      saves++
      await progress.save(saves)
    }
    ctx.signal.throwIfAborted()
    return 'done'
  }
  const served = serveWithLoad(hand, run, { strictReplay: false })
  setImmediate(() => controller.abort(new Error('no longer wanted')))
  await expect(send(served, {}, { signal: controller.signal })).rejects.toThrow('no longer wanted')
  expect(saves).toBeLessThan(10)
})
