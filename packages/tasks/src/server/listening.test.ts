import { tool } from '@x/server'
import { expect, test } from 'vitest'
import type { EngineListener, TaskEngine } from '../engines/engine.ts'
import { createFleet, createGate } from '../testing/fleet.ts'

const greet = tool('greet', { description: 'Greets', task: 'required', run: () => 'Hello!' })

/** Runs all work that waits only for promises. */
const settled = (): Promise<void> => new Promise(setImmediate)

/** An engine whose `listen` rejects a number of times, with the time of each attempt. */
function refusing(times: number): {
  readonly around: (engine: TaskEngine) => TaskEngine
  attempts: number
  stops: number
} {
  const seen = {
    attempts: 0,
    stops: 0,
    around: (engine: TaskEngine): TaskEngine => ({ ...engine, listen: listen(engine) }),
  }
  const listen = (engine: TaskEngine) => async (listener: EngineListener) => {
    seen.attempts += 1
    if (seen.attempts <= times) throw new Error(`away, ${seen.attempts}`)
    const stop = await engine.listen(listener)
    return () => {
      seen.stops += 1
      stop()
    }
  }
  return seen
}

test('a worker that cannot listen to its engine tries again after longer pauses, and logs it once', async () => {
  const engine = refusing(3)
  const { clock, errors, start, reach, server } = createFleet(engine.around).add([greet])
  const attempts: number[] = []
  for (const ms of [0, 249, 1, 499, 1, 999, 1, 4000]) {
    clock.advance(ms)
    await settled()
    attempts.push(engine.attempts)
  }
  expect(attempts).toEqual([1, 1, 2, 2, 3, 3, 4, 4])
  expect(errors).toEqual([new Error('away, 1')])
  await reach(await start('greet'), 'completed')
  await server.close()
  expect([engine.stops, clock.waiting]).toEqual([1, 0])
})

test('a task that became ready while no worker listened is claimed as soon as a worker listens', async () => {
  const engine = refusing(1)
  const fleet = createFleet(engine.around)
  const worker = fleet.add([greet], {})
  await settled()
  const accepting = fleet.add([greet], { runWorker: false })
  const taskId = await accepting.start('greet')
  await settled()
  expect((await accepting.see(taskId)).status).toBe('working')
  worker.clock.advance(250)
  await accepting.reach(taskId, 'completed')
})

test('a task that became ready between the first claim of a worker and its subscription is claimed once that is there', async () => {
  const gate = createGate()
  const fleet = createFleet((engine) => ({
    ...engine,
    listen: async (listener) => {
      await gate.pass()
      return engine.listen(listener)
    },
  }))
  fleet.add([greet])
  await settled()
  const accepting = fleet.add([greet], { runWorker: false })
  const taskId = await accepting.start('greet')
  gate.open()
  await accepting.reach(taskId, 'completed')
})

test('the longest pause is half a minute', async () => {
  const engine = refusing(100)
  const { clock } = createFleet(engine.around).add([greet])
  for (let tries = 0; tries < 12; tries++) {
    await settled()
    clock.advance(30_000)
  }
  await settled()
  expect(engine.attempts).toBe(13)
})

test('a server that closes during the pause before an attempt to listen stops the attempts, and leaves no timer', async () => {
  const engine = refusing(100)
  const { clock, server } = createFleet(engine.around).add([greet])
  await settled()
  await server.close()
  clock.advance(60_000)
  await settled()
  expect([engine.attempts, clock.waiting]).toEqual([1, 0])
})
