import { describe, expect, test } from 'vitest'
import { type Tool, tool } from '@x/server'
import * as z from 'zod'
import type { TaskEngine } from '../engines/engine.ts'
import {
  accept,
  createFleet,
  createGate,
  createWorkRecorder,
  type Fleet,
  greetAdaParams,
  createGreetTool,
  type Instance,
  sendTaskAnswer,
  textOf,
} from '../testing/fleet.ts'
import { tasks } from './tasks.ts'
import type { TaskRunner } from './task-runner.ts'

const named = z.object({ name: z.string() })

/** A runner that records what is dispatched, and the function that lets dispatches fail. */
function recordingRunner(): TaskRunner & { readonly dispatched: [string, number][]; answer: () => Promise<void> } {
  const dispatched: [string, number][] = []
  const runner = {
    dispatched,
    answer: async () => {},
    dispatch: async (id: string, delayMs: number) => {
      dispatched.push([id, delayMs])
      await runner.answer()
    },
  }
  return runner
}

/** A tool of two steps, the first of which waits at a gate. */
function twoSteps(): { readonly steps: Tool; readonly done: string[]; readonly gate: ReturnType<typeof createGate> } {
  const { done, work } = createWorkRecorder()
  const gate = createGate()
  const steps = tool('steps', {
    description: 'Works in steps',
    task: 'required',
    run: async (_, ctx) => {
      await ctx.step('one', async () => {
        await gate.pass()
        return work('one')
      })
      return ctx.step('two', () => work('two'))
    },
  })
  return { steps, done, gate }
}

const ask = tool('ask', {
  description: 'Asks for a name',
  task: 'required',
  run: async (_, ctx) => (await ctx.elicit('name', { message: 'Who?', schema: named })).name,
})

/** Runs all work that needs no timer. */
async function flush(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
}

/** Lets time pass at the engine and at instances. */
async function live(fleet: Fleet, instances: readonly Instance[], ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    fleet.pass(1000)
    for (const { clock } of instances) clock.advance(1000)
    await flush()
  }
}

describe('a server with a runner', () => {
  test('dispatches a task before its client has the handle, and runs it only on request [ENG-011]', async () => {
    const runner = recordingRunner()
    const fleet = createFleet()
    const instance = fleet.add([createGreetTool('required')], { runner })
    const { taskId } = await instance.result('tools/call', greetAdaParams)
    const id = String(taskId)
    expect(runner.dispatched).toEqual([[id, 0]])
    const other = String((await instance.result('tools/call', greetAdaParams))['taskId'])
    await live(fleet, [instance], 20_000)
    expect((await instance.see(id))['status']).toBe('working')
    expect(await instance.server.tasks.run(id)).toEqual({ status: 'ended' })
    expect(textOf((await instance.see(id))['result'])).toBe('Hello, Ada!')
    expect((await instance.see(other))['status']).toBe('working')
    expect(await instance.server.tasks.run(id)).toEqual({ status: 'ended' })
    expect(await instance.server.tasks.run('none')).toEqual({ status: 'unknown' })
  })

  test('dispatches a task again after its last answer', async () => {
    const runner = recordingRunner()
    const instance = createFleet().add([ask], { runner })
    const id = await instance.start('ask')
    expect(await instance.server.tasks.run(id)).toEqual({ status: 'waiting' })
    expect(await instance.server.tasks.run(id)).toEqual({ status: 'waiting' })
    await sendTaskAnswer(instance, id, { name: accept({ name: 'Ada' }) })
    expect(runner.dispatched).toEqual([
      [id, 0],
      [id, 0],
    ])
    expect(await instance.server.tasks.run(id)).toEqual({ status: 'ended' })
    expect(textOf((await instance.see(id))['result'])).toBe('Ada')
  })

  test('returns `busy` and the time of the next attempt for a task that another run has', async () => {
    const runner = recordingRunner()
    const fleet = createFleet()
    const { steps, done, gate } = twoSteps()
    const [one, two] = [fleet.add([steps], { runner }), fleet.add([steps], { runner })]
    const id = await one.start('steps')
    const first = one.server.tasks.run(id)
    await gate.reached
    for (const { server } of [one, two])
      expect(await server.tasks.run(id)).toEqual({ status: 'busy', retryAfterMs: fleet.engine.leaseMs })
    gate.open()
    expect(await first).toEqual({ status: 'ended' })
    expect(done).toEqual(['one', 'two'])
  })

  test('runs no more tasks at once than its concurrency', async () => {
    const runner = recordingRunner()
    const { steps, gate } = twoSteps()
    const instance = createFleet().add([steps], { runner, concurrency: 2 })
    const ids = [await instance.start('steps'), await instance.start('steps'), await instance.start('steps')]
    const runs = ids.map((id) => instance.server.tasks.run(id))
    expect(await runs[2]).toEqual({ status: 'busy', retryAfterMs: 1000 })
    await gate.reached
    expect(instance.server.tasks.running).toBe(2)
    gate.open()
    expect(await Promise.all(runs.slice(0, 2))).toEqual([{ status: 'ended' }, { status: 'ended' }])
    expect(await instance.server.tasks.run(String(ids[2]))).toEqual({ status: 'ended' })
  })

  test.each(['a budget', 'a signal'])(
    'releases a task at the next boundary after %s, and it continues elsewhere',
    async (what) => {
      const runner = recordingRunner()
      const fleet = createFleet()
      const { steps, done, gate } = twoSteps()
      const [one, two] = [fleet.add([steps], { runner }), fleet.add([steps], { runner })]
      const id = await one.start('steps')
      const controller = new AbortController()
      const run = one.server.tasks.run(id, what === 'a budget' ? { budgetMs: 500 } : { signal: controller.signal })
      await gate.reached
      one.clock.advance(500)
      controller.abort()
      gate.open()
      expect(await run).toEqual({ status: 'released' })
      expect([done, runner.dispatched.length]).toEqual([['one'], 2])
      expect(await two.server.tasks.run(id)).toEqual({ status: 'ended' })
      expect([done, textOf((await one.see(id))['result'])]).toEqual([['one', 'two'], 'two'])
    },
  )

  test('claims nothing for an aborted signal, and rejects an invalid budget', async () => {
    const instance = createFleet().add([ask], { runner: recordingRunner() })
    const id = await instance.start('ask')
    await expect(instance.server.tasks.run(id, { signal: AbortSignal.abort('gone') })).rejects.toBe('gone')
    await expect(instance.server.tasks.run(id, { budgetMs: Number.NaN })).rejects.toThrow('budgetMs is NaN')
    expect((await instance.server.tasks.show(id))?.attempt).toBe(0)
  })

  test.each([
    [0.5, { status: 'waiting' }, 1],
    [0, { status: 'busy', retryAfterMs: 1000 }, 0],
    [-3, { status: 'busy', retryAfterMs: 1000 }, 0],
  ])('a budget of %d ms, which a runner has computed, gives %j', async (budgetMs, outcome, attempt) => {
    const instance = createFleet().add([ask], { runner: recordingRunner() })
    const id = await instance.start('ask')
    expect(await instance.server.tasks.run(id, { budgetMs })).toEqual(outcome)
    expect((await instance.server.tasks.show(id))?.attempt).toBe(attempt)
  })

  test.each([
    ['rejects', () => Promise.reject(new Error('No queue'))],
    ['never settles', () => new Promise<void>(() => {})],
  ])('logs a dispatch that %s, and repeats it [ENG-012]', async (_, failure) => {
    const runner = recordingRunner()
    runner.answer = failure
    const fleet = createFleet()
    const instance = fleet.add([createGreetTool('required')], { runner })
    const starting = instance.start('greet', { name: 'Ada' })
    await live(fleet, [instance], 6000)
    const id = await starting
    expect(String(instance.errors)).toMatch(/No queue|did not answer to dispatch within 5000 ms/)
    runner.answer = async () => {}
    runner.dispatched.length = 0
    await live(fleet, [instance], 30_000)
    expect(runner.dispatched).toEqual([[id, 0]])
    expect(await instance.server.tasks.run(id)).toEqual({ status: 'ended' })
    await live(fleet, [instance], 60_000)
    expect(runner.dispatched).toEqual([[id, 0]])
  })

  test('stops a search for lost dispatches after ten failures in a row', async () => {
    const runner = recordingRunner()
    const fleet = createFleet()
    const instance = fleet.add([createGreetTool('required')], { runner })
    for (let count = 0; count < 25; count++) await instance.start('greet', { name: 'Ada' })
    runner.dispatched.length = 0
    runner.answer = () => Promise.reject(new Error('No queue'))
    await live(fleet, [instance], 30_000)
    expect(runner.dispatched).toHaveLength(10)
    runner.answer = async () => {}
    await live(fleet, [instance], 30_000)
    expect(runner.dispatched).toHaveLength(35)
  })

  test('dispatches no task that the quota of its caller refuses', async () => {
    const runner = recordingRunner()
    const instance = createFleet().add([ask], { runner }, { limits: { tasks: 1 } })
    const id = await instance.start('ask')
    expect((await instance.error('tools/call', { name: 'ask' })).message).toContain('tasks')
    expect(runner.dispatched).toEqual([[id, 0]])
    expect(await instance.server.tasks.run(id)).toEqual({ status: 'waiting' })
    expect((await instance.error('tools/call', { name: 'ask' })).message).toContain('tasks')
  })

  test('cancels a task during its run', async () => {
    const fleet = createFleet()
    const { steps, done, gate } = twoSteps()
    const runner = recordingRunner()
    const [one, two] = [fleet.add([steps], { runner }), fleet.add([steps], { runner })]
    const id = await one.start('steps')
    const run = one.server.tasks.run(id)
    await gate.reached
    await two.result('tasks/cancel', { taskId: id })
    gate.open()
    expect(await run).toEqual({ status: 'ended' })
    expect([(await two.see(id))['status'], done]).toEqual(['cancelled', ['one']])
  })

  test('that closes during a run releases and dispatches the task, and runs no other task', async () => {
    const fleet = createFleet()
    const { steps, done, gate } = twoSteps()
    const runner = recordingRunner()
    const [one, two] = [fleet.add([steps], { runner }), fleet.add([steps], { runner })]
    const id = await one.start('steps')
    const run = one.server.tasks.run(id)
    await gate.reached
    const closed = one.server.close()
    expect(await one.server.tasks.run(id)).toEqual({ status: 'busy', retryAfterMs: 1000 })
    gate.open()
    expect(await run).toEqual({ status: 'released' })
    await closed
    expect(runner.dispatched).toHaveLength(2)
    expect(await two.server.tasks.run(id)).toEqual({ status: 'ended' })
    expect(done).toEqual(['one', 'two'])
  })

  test('that closes during the claim of a run releases the task as well', async () => {
    const gate = createGate()
    const fleet = createFleet((engine: TaskEngine) => ({
      ...engine,
      claim: async (request) => {
        const claims = await engine.claim(request)
        await gate.pass()
        return claims
      },
    }))
    const { steps } = twoSteps()
    const instance = fleet.add([steps], { runner: recordingRunner() })
    const id = await instance.start('steps')
    const run = instance.server.tasks.run(id)
    await gate.reached
    const closed = instance.server.close()
    gate.open()
    expect(await run).toEqual({ status: 'released' })
    await closed
    expect((await fleet.engine.inspect(id))?.state).toBe('ready')
  })

  test('dispatches a task that an operator has revoked, and the run that lost it returns `busy`', async () => {
    const fleet = createFleet()
    const { steps, gate } = twoSteps()
    const runner = recordingRunner()
    const instance = fleet.add([steps], { runner })
    const id = await instance.start('steps')
    const run = instance.server.tasks.run(id)
    await gate.reached
    expect(await instance.server.tasks.revoke(id)).toBe('revoked')
    expect(runner.dispatched).toHaveLength(2)
    gate.open()
    expect(await run).toEqual({ status: 'busy', retryAfterMs: 100 })
    expect(await instance.server.tasks.run(id)).toEqual({ status: 'ended' })
  })

  test('dispatches a task whose tool it does not have after a pause', async () => {
    const fleet = createFleet()
    const runner = recordingRunner()
    const [one, two] = [fleet.add([ask], { runner }), fleet.add([], { runner })]
    const id = await one.start('ask')
    expect(await two.server.tasks.run(id)).toEqual({ status: 'released' })
    expect(runner.dispatched.at(-1)).toEqual([id, 250])
    expect(await one.server.tasks.run(id)).toEqual({ status: 'busy', retryAfterMs: 250 })
    fleet.pass(250)
    expect(await one.server.tasks.run(id)).toEqual({ status: 'waiting' })
  })

  test('rejects a run while its store is unreachable', async () => {
    const fleet = createFleet((engine) => ({ ...engine, claim: () => Promise.reject(new Error('No store')) }))
    const instance = fleet.add([ask], { runner: recordingRunner() })
    await expect(instance.server.tasks.run('a')).rejects.toThrow('No store')
  })

  test('cannot be combined with a worker', () => {
    expect(() => tasks({ runner: recordingRunner(), runWorker: true })).toThrow('runWorker is true beside a runner')
  })
})

test('a server without a runner runs a task on request', async () => {
  const { steps, gate } = twoSteps()
  const instance = createFleet().add([steps], { runWorker: false })
  const id = await instance.start('steps')
  gate.open()
  expect(await instance.server.tasks.run(id)).toEqual({ status: 'ended' })
})
