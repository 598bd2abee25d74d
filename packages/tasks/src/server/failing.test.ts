import type { LogRecord } from '@x/core'
import { errorCodes } from '@x/schema'
import { isSuspension, tool } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createFleet, createGate, createWorkRecorder, textOf } from '../testing/fleet.ts'

test('a loop continues from its checkpoint, and reports its progress', async () => {
  const { done, work } = createWorkRecorder()
  const shut = createGate()
  const scan = tool('scan', {
    description: 'Scans',
    task: 'required',
    run: async (_, ctx) => {
      const at = ctx.checkpoint('scan', 0)
      while (at.value < 4) {
        work(`row ${at.value}`)
        if (at.value === 2 && done.length === 3) await shut.pass()
        ctx.progress(at.value + 1, 4, `Row ${at.value + 1} of 4`)
        await at.save(at.value + 1)
      }
      return 'scanned'
    },
  })
  const fleet = createFleet()
  const dead = fleet.add([scan], {}, { strictReplay: false })
  const taskId = await dead.start('scan')
  await shut.reached
  expect(await dead.see(taskId)).toMatchObject({
    status: 'working',
    statusMessage: 'Row 2 of 4',
    _meta: { 'dev.x/progress': { progress: 2, total: 4 } },
  })
  fleet.pass(fleet.engine.leaseMs + 1)
  const next = fleet.add([scan], {}, { strictReplay: false })
  // A task that has ended keeps the last report, whether or not a checkpoint had stored it before.
  expect(await next.reach(taskId, 'completed')).toMatchObject({ statusMessage: 'Row 4 of 4' })
  expect(done).toEqual(['row 0', 'row 1', 'row 2', 'row 2', 'row 3'])
})

test('progress is reported without a checkpoint, too, and log messages are dropped', async () => {
  const shut = createGate()
  const telling = tool('tell', {
    description: 'Tells',
    task: 'required',
    run: async (_, ctx) => {
      ctx.log('error', 'for nobody')
      ctx.progress(1, 3)
      ctx.progress(2)
      await shut.pass()
      return 'told'
    },
  })
  const { start, reach, clock } = createFleet().add([telling], {}, { strictReplay: false })
  const meta = { progressToken: 7, 'io.modelcontextprotocol/logLevel': 'debug' }
  const heard: unknown[] = []
  const taskId = await start('tell', {}, { meta, notify: (message) => void heard.push(message) })
  await shut.reached
  clock.advance(500)
  expect((await reach(taskId, ({ statusMessage }) => statusMessage !== undefined)).statusMessage).toBe('2')
  shut.open()
  const { result } = await reach(taskId, 'completed')
  expect([textOf(result), heard]).toEqual(['told', []])
})

test('a task whose process dies repeatedly ends with an error about it', async () => {
  const deadly = tool('deadly', { description: 'x', task: 'required', run: () => new Promise<string>(() => {}) })
  const fleet = createFleet()
  const first = fleet.add([deadly], { maxFailures: 2 })
  const taskId = await first.start('deadly')
  for (let deaths = 0; deaths < 2; deaths++) {
    fleet.pass(fleet.engine.leaseMs + 1)
    fleet.add([deadly], { maxFailures: 2 })
  }
  const { status, error, statusMessage } = await first.reach(taskId, ({ status }) => status !== 'working')
  const message =
    'The task was started 2 times, and each time its process died or stopped before a step was done or a checkpoint saved'
  expect([status, error, statusMessage]).toEqual(['failed', { code: errorCodes.internal, message }, message])
})

test.each([
  ['another', 1, 'completed'],
  ['the same', 0, 'failed'],
] as const)('a task whose process dies again and again after it saved %s value of a checkpoint', async (...row) => {
  const [, step, end] = row
  const saved: number[] = []
  const scan = tool('scan', {
    description: 'Scans',
    task: 'required',
    run: async (_, ctx) => {
      const at = ctx.checkpoint('scan', 0)
      if (at.value === 4) return 'scanned'
      await at.save(at.value + step)
      saved.push(at.value)
      return new Promise<string>(() => {})
    },
  })
  const fleet = createFleet()
  const add = () => fleet.add([scan], { maxFailures: 2 }, { strictReplay: false })
  const first = add()
  const taskId = await first.start('scan')
  for (let attempts = 1; (await first.see(taskId)).status === 'working'; attempts += 1) {
    await expect.poll(() => saved).toHaveLength(attempts)
    fleet.pass(fleet.engine.leaseMs + 1)
    const next = add()
    if (saved.length === (step === 0 ? 2 : 4)) await next.reach(taskId, ({ status }) => status !== 'working')
  }
  expect([(await first.see(taskId)).status, saved]).toEqual([end, step === 0 ? [0, 0] : [1, 2, 3, 4]])
})

test('a handler that throws outside of its promise does not affect the process and the other tasks', async () => {
  const tools = [
    tool('throw', { description: 'x', task: 'required', run: () => Promise.reject(new Error('poison')) }),
    tool('forget', {
      description: 'Does not wait for what it starts',
      task: 'required',
      run: (_, ctx) => {
        void ctx.step('late', () => Promise.reject(new Error('poison')))
        return 'gone'
      },
    }),
    tool('calm', { description: 'x', task: 'required', run: (_, ctx) => ctx.step('one', () => 'calm') }),
  ]
  const { start, reach } = createFleet().add(tools, { concurrency: 1 }, { strictReplay: false })
  const [thrown, forgotten, calm] = [await start('throw'), await start('forget'), await start('calm')]
  expect(await reach(thrown, 'completed')).toMatchObject({ result: { isError: true } })
  expect(await reach(forgotten, 'completed')).toMatchObject({ result: { isError: true } })
  expect(textOf((await reach(calm, 'completed')).result)).toBe('calm')
})

test('a short outage of the engine loses no progress', async () => {
  const { done, work } = createWorkRecorder()
  let failures = 0
  const fleet = createFleet((engine) => ({
    ...engine,
    record: (...args) => (failures++ < 2 ? Promise.reject(new Error('away')) : engine.record(...args)),
    finish: (...args) => (failures++ < 5 ? Promise.reject(new Error('away')) : engine.finish(...args)),
  }))
  const step = tool('step', { description: 'x', task: 'required', run: (_, ctx) => ctx.step('one', () => work('one')) })
  const { start, reach, clock, errors } = fleet.add([step])
  const taskId = await start('step')
  const reached = reach(taskId, 'completed')
  while (errors.length < 4) {
    clock.advance(100)
    await new Promise(setImmediate)
  }
  clock.advance(10_000)
  expect([textOf((await reached).result), done]).toEqual(['one', ['one']])
})

test('an instance runs as many tasks as its concurrency, and the next one after a task has ended', async () => {
  const gates = [createGate(), createGate(), createGate()]
  const wait = tool('wait', {
    description: 'Waits',
    input: z.object({ at: z.number() }),
    task: 'required',
    run: async ({ at }) => {
      await gates[at]?.pass()
      return `${at}`
    },
  })
  const { start, reach, server } = createFleet().add([wait], { concurrency: 2 }, { strictReplay: false })
  const ids = [await start('wait', { at: 0 }), await start('wait', { at: 1 }), await start('wait', { at: 2 })]
  await gates[1]?.reached
  expect(server.tasks.running).toBe(2)
  gates[0]?.open()
  await gates[2]?.reached
  expect(server.tasks.running).toBe(2)
  for (const one of gates) one.open()
  for (const id of ids) await reach(id, 'completed')
})

test('a handler that swallows its suspension when it becomes a task is only reported', async () => {
  const swallowing = tool('swallow', {
    description: 'Swallows',
    run: async (_, ctx) => {
      try {
        await ctx.continueAsTask()
      } catch (error) {
        return `swallowed ${isSuspension(error)}`
      }
      return 'as a task'
    },
  })
  const { start, reach, errors } = createFleet().add([swallowing], {}, { strictReplay: false })
  expect(textOf((await reach(await start('swallow'), 'completed')).result)).toBe('as a task')
  expect(errors).toEqual([expect.stringContaining('was to become a task and then returned')])
})

test('an outage of the store is three lines in the log, whoever meets it', async () => {
  const isShown = ({ level }: LogRecord): boolean => level !== 'debug'
  let isAway = false
  const fleet = createFleet((engine) => {
    const call =
      <Args extends readonly unknown[], Value>(method: (...args: Args) => Promise<Value>) =>
      (...args: Args): Promise<Value> =>
        isAway ? Promise.reject(new Error('connection refused')) : method(...args)
    return { ...engine, claim: call(engine.claim), get: call(engine.get), ping: call(engine.ping) }
  })
  const records: LogRecord[] = []
  const quick = tool('quick', { description: 'x', task: 'required', run: () => 'done' })
  const { start, see, reach, clock } = fleet.add([quick], {}, { log: (record) => void records.push(record) })
  const taskId = await start('quick')
  await reach(taskId, 'completed')
  isAway = true
  for (let count = 0; count < 120; count += 1) {
    clock.advance(5000)
    await expect(see(taskId)).rejects.toThrow('-32603')
  }
  isAway = false
  for (let seconds = 0; seconds < 60; seconds += 1) {
    clock.advance(1000)
    await see(taskId)
  }
  expect(records.filter(isShown)).toMatchObject([
    { level: 'error', name: 'tasks', message: 'Error: connection refused' },
    { level: 'warn', code: 'unavailable', message: expect.stringMatching(/^The task store has failed for \d+ s/) },
    { level: 'info', code: 'available', message: expect.stringMatching(/^The task store answers again, after \d+ s/) },
  ])
})
