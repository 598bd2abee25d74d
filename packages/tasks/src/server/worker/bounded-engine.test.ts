import { tool } from '@x/server'
import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { TaskEngine } from '../../engines/engine.ts'
import { memoryEngine } from '../../engines/memory-engine.ts'
import { createFleet, type Fleet, type Instance, textOf } from '../../testing/fleet.ts'
import { boundEngineCalls } from './bounded-engine.ts'

const never = (): Promise<never> => new Promise(() => {})

const quick = tool('quick', {
  description: 'Does one step',
  task: 'required',
  run: (_, ctx) => ctx.step('one', () => 'done'),
})

/** Moves the clocks of the instance and the engine forward, and runs all work that is due. */
async function live(fleet: Fleet, instance: Instance, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    fleet.pass(1000)
    instance.clock.advance(1000)
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  }
}

/** An engine of which the first call of one function never settles. */
function silentOnce(name: keyof TaskEngine): { around: (engine: TaskEngine) => TaskEngine; isSilent: () => boolean } {
  let isSilent = false
  const around = (engine: TaskEngine): TaskEngine =>
    new Proxy(engine, {
      get: (target, key, receiver) => {
        if (key !== name || isSilent) return Reflect.get(target, key, receiver)
        return () => {
          isSilent = true
          return never()
        }
      },
    })
  return { around, isSilent: () => isSilent }
}

describe('a call of the engine that never settles', () => {
  test.each(['claim', 'record', 'finish', 'listen', 'heartbeat', 'deleteExpiredTasks'] as const)(
    'counts as rejected: %s is repeated, and tasks end [ENG-003]',
    async (name) => {
      const { around } = silentOnce(name)
      const fleet = createFleet(around)
      const instance = fleet.add([quick])
      const taskId = await instance.start('quick')
      const other = await instance.start('quick')
      await live(fleet, instance, 80_000)
      for (const id of [taskId, other]) expect(textOf((await instance.reach(id, 'completed')).result)).toBe('done')
      await instance.server.close()
    },
  )

  test('counts as rejected: suspend is repeated, and the task waits for its answer [ENG-003]', async () => {
    const { around, isSilent } = silentOnce('suspend')
    const fleet = createFleet(around)
    const ask = tool('ask', {
      description: 'Asks for a name',
      task: 'required',
      run: async (_, ctx) =>
        (await ctx.elicit('who', { message: 'Who?', schema: z.object({ name: z.string() }) })).name,
    })
    const instance = fleet.add([ask])
    const taskId = await instance.start('ask')
    await live(fleet, instance, 80_000)
    await instance.reach(taskId, 'input_required')
    expect(isSilent()).toBe(true)
    const inputResponses = { who: { action: 'accept', content: { name: 'Ada' } } }
    await instance.result('tasks/update', { taskId, inputResponses })
    await live(fleet, instance, 5000)
    expect(textOf((await instance.reach(taskId, 'completed')).result)).toBe('Ada')
    await instance.server.close()
  })

  test('counts as rejected: listDue is rejected, so that a runner retries [ENG-003]', async () => {
    const clock = manualClock()
    const engine = boundEngineCalls({ ...memoryEngine(), listDue: never }, clock, () => {})
    const listing = engine.listDue(1)
    clock.advance(60_000)
    await expect(listing).rejects.toThrow('did not answer to listDue within 60000 ms')
  })

  test('has a limit of a minute until the engine has answered once, because the first call opens the store [ENG-003]', async () => {
    const clock = manualClock()
    const pings: (() => void)[] = []
    const heartbeat = (): Promise<[]> => new Promise((resolve) => pings.push(() => resolve([])))
    const engine = boundEngineCalls({ ...memoryEngine(), heartbeat }, clock, () => {})
    const opening = engine.heartbeat([])
    clock.advance(59_000)
    for (const answer of pings) answer()
    expect(await opening).toEqual([])
    const silent = engine.heartbeat([])
    clock.advance(10_000)
    await expect(silent).rejects.toThrow('did not answer to heartbeat within 10000 ms')
  })

  test('leaves a task whose write is open for longer than the lease to another instance [ENG-004]', async () => {
    const renewed: string[] = []
    const { around, isSilent } = silentOnce('record')
    const fleet = createFleet((engine) =>
      around({
        ...engine,
        heartbeat: (leases) => {
          renewed.push(...leases.map(({ id }) => id))
          return engine.heartbeat(leases)
        },
      }),
    )
    const instance = fleet.add([quick])
    await instance.start('quick')
    while (!isSilent()) await new Promise(setImmediate)
    instance.clock.advance(4000)
    await new Promise(setImmediate)
    const before = renewed.length
    expect(before).toBeGreaterThan(0)
    instance.clock.advance(5999)
    await new Promise(setImmediate)
    instance.clock.advance(4000)
    await new Promise(setImmediate)
    expect(renewed.length - before).toBeLessThanOrEqual(2)
  })

  test.each(['claim', 'record', 'finish', 'release', 'close'] as const)(
    'does not keep a server from closing within its grace and 2 seconds: %s [ENG-005]',
    async (name) => {
      const fleet = createFleet((engine) => ({ ...engine, [name]: never }))
      const instance = fleet.add([quick])
      await instance.start('quick')
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
      let isClosed = false
      const closing = instance.server.close({ graceMs: 1000 }).then(() => {
        isClosed = true
      })
      for (let passed = 0; passed <= 4000 && !isClosed; passed += 100) {
        instance.clock.advance(100)
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
      }
      expect(isClosed).toBe(true)
      await closing
    },
  )
})

describe('a write whose answer was lost', () => {
  test.each(['finish', 'suspend'] as const)('notifies of the change that %s made', async (name) => {
    let isLost = false
    const fleet = createFleet((engine) => ({
      ...engine,
      finish: async (...write) => {
        const outcome = await engine.finish(...write)
        if (name === 'finish' && !isLost) {
          isLost = true
          throw new Error('The connection broke')
        }
        return outcome
      },
      suspend: async (...write) => {
        const outcome = await engine.suspend(...write)
        if (name === 'suspend' && !isLost) {
          isLost = true
          throw new Error('The connection broke')
        }
        return outcome
      },
    }))
    const ask = tool('ask', {
      description: 'Asks',
      task: 'required',
      run: async (_, ctx) => {
        if (name === 'finish') return 'done'
        const schema = z.object({ name: z.string() })
        const who = await ctx.elicit('who', { message: 'Who?', schema })
        return who.name
      },
    })
    const instance = fleet.add([ask])
    const states: unknown[] = []
    const taskId = await instance.start('ask')
    const stream = new AbortController()
    const listening = instance
      .ask(
        'subscriptions/listen',
        { notifications: { taskIds: [taskId] } },
        { signal: stream.signal, notify: ({ params = {} }) => void states.push(params['status']) },
      )
      .catch(() => {})
    await expect
      .poll(
        async () => {
          instance.clock.advance(200)
          return states.at(-1)
        },
        { timeout: 5000 },
      )
      .toBe(name === 'finish' ? 'completed' : 'input_required')
    stream.abort()
    await listening
  })
})
