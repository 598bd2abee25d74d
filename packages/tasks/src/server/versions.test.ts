import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { platformRuntime } from '@x/core'
import { errorCodes, type JsonObject, McpError } from '@x/schema'
import { type Tool, tool } from '@x/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { postgresEngine } from '../engines/postgres/postgres-engine.ts'
import {
  accept,
  sendTaskAnswer,
  createFleet,
  type Fleet,
  type Instance,
  createWorkRecorder,
  textOf,
} from '../testing/fleet.ts'

const named = z.object({ name: z.string() })
const greet = tool('greet', { description: 'Greets', task: 'required', run: () => 'Hello!' })

/** A tool that only the new version has. */
function young(work: (what: string) => string): Tool {
  return tool('young', {
    description: 'x',
    task: 'required',
    run: async (_, ctx) => {
      const one = await ctx.step('one', () => work('one'))
      const { name } = await ctx.elicit('who', { message: 'Who?', schema: named })
      return `${one} ${name}`
    },
  })
}

const settled = (): Promise<void> => new Promise(setImmediate)
const over = ({ status }: JsonObject): boolean => status === 'completed' || status === 'failed'

/** Moves the clocks of an instance and the engine forward in steps. */
async function advanceTime(
  fleet: Fleet,
  instance: Instance,
  { ms, steps }: { ms: number; steps: number },
): Promise<void> {
  for (let step = 0; step < steps; step++) {
    fleet.pass(ms)
    instance.clock.advance(ms)
    for (let turn = 0; turn < 10; turn++) await settled()
  }
}

/** A fleet whose engine counts the claimed tasks. */
function countingFleet(): { readonly fleet: Fleet; readonly claims: () => number } {
  let claims = 0
  const fleet = createFleet((engine) => ({
    ...engine,
    claim: async (request) => {
      const claimed = await engine.claim(request)
      claims += claimed.tasks.length
      return claimed
    },
  }))
  return { fleet, claims: () => claims }
}

describe('an instance that does not know the tool of a task', () => {
  test.each([
    ['other tools', [greet]],
    ['no tools', []],
    [
      'the tool only for other callers',
      [tool('young', { description: 'x', task: 'required', visibleTo: () => false, run: () => '' })],
    ],
    [
      'so many tools that the list has pages',
      Array.from({ length: 120 }, (_, at) => tool(`old-${at}`, { description: 'x', run: () => '' })),
    ],
  ])('requeues it for other instances, if it has %s', async (_title, known) => {
    const { done, work } = createWorkRecorder()
    const { fleet } = countingFleet()
    const old = fleet.add(known)
    const accepting = fleet.add([young(work)], { runWorker: false })
    const taskId = await accepting.start('young')
    await advanceTime(fleet, old, { ms: 1000, steps: 3 })
    expect(await accepting.see(taskId)).toMatchObject({ status: 'working' })
    expect(old.errors.map(String)).toEqual([
      `Error: A task is requeued for other instances, because this one does not know the tool "young": it was removed, or hidden from its caller`,
    ])
    await old.server.close()
    const next = fleet.add([young(work)], {}, { strictReplay: false })
    await advanceTime(fleet, next, { ms: 5000, steps: 4 })
    await next.reach(taskId, 'input_required')
    await sendTaskAnswer(next, taskId, { who: accept({ name: 'Ada' }) })
    expect(textOf((await next.reach(taskId, 'completed')).result)).toBe('one Ada')
    expect(done).toEqual(['one'])
  })

  test('does not claim it repeatedly, runs others in the meantime, and lets it be cancelled', async () => {
    const { fleet, claims } = countingFleet()
    const old = fleet.add([greet])
    const accepting = fleet.add([young((what) => what), greet], { runWorker: false })
    const taskId = await accepting.start('young')
    await advanceTime(fleet, old, { ms: 100, steps: 600 })
    // In a minute: four claims each after pauses of 0.25, 0.5, 1, 2 and 4 seconds, and the others after 8 seconds.
    expect(claims()).toBeLessThan(26)
    await accepting.reach(await accepting.start('greet'), 'completed')
    await accepting.result('tasks/cancel', { taskId })
    expect(await accepting.see(taskId)).toMatchObject({ status: 'cancelled' })
  })

  test('ends it with an error when no instance has supported it for long enough', async () => {
    const fleet = createFleet()
    const old = fleet.add([greet])
    const accepting = fleet.add([young((what) => what)], { runWorker: false })
    const taskId = await accepting.start('young')
    await advanceTime(fleet, old, { ms: 5000, steps: 50 })
    expect(await accepting.see(taskId)).toMatchObject({ status: 'working' })
    await advanceTime(fleet, old, { ms: 5000, steps: 100 })
    const message =
      'For 303 seconds no instance that claimed the task supported the tool "young": it was removed, or hidden from its caller'
    expect(await accepting.see(taskId)).toMatchObject({
      status: 'failed',
      error: { code: errorCodes.invalidParams, message },
    })
    expect(old.errors.map(String)).toHaveLength(2)
  })

  test('counts again from 0 after an instance has supported it', async () => {
    const { work } = createWorkRecorder()
    const fleet = createFleet()
    const old = fleet.add([greet])
    const accepting = fleet.add([young(work)], { runWorker: false })
    const taskId = await accepting.start('young')
    await advanceTime(fleet, old, { ms: 5000, steps: 50 })
    const takeBack = old.server.drain()
    const next = fleet.add([young(work)], {}, { strictReplay: false })
    await advanceTime(fleet, next, { ms: 5000, steps: 10 })
    await next.reach(taskId, 'input_required')
    await next.server.close()
    takeBack()
    await sendTaskAnswer(accepting, taskId, { who: accept({ name: 'Ada' }) })
    await advanceTime(fleet, old, { ms: 5000, steps: 50 })
    expect(await accepting.see(taskId)).toMatchObject({ status: 'working' })
  })

  test.each([
    ['invalid params', errorCodes.invalidParams],
    ['no such method', errorCodes.methodNotFound],
  ])('is not confused with an instance whose tool throws %s', async (_title, code) => {
    const refusing = tool('refuse', {
      description: 'x',
      task: 'required',
      run: () => Promise.reject(new McpError(code, 'Not this one')),
    })
    const { start, reach } = createFleet().add([refusing])
    expect(await reach(await start('refuse'), over)).toMatchObject({
      status: 'failed',
      error: { code, message: 'Not this one' },
    })
  })
})

test('a task of a format that an instance does not know is requeued too, and is not changed', async () => {
  const { done, work } = createWorkRecorder()
  const fleet = createFleet((engine) => ({
    ...engine,
    create: (task) => engine.create({ ...task, payload: { ...task.payload, v: 2 } }),
  }))
  const instance = fleet.add([tool('step', { description: 'x', task: 'required', run: () => work('one') })])
  const taskId = await instance.start('step')
  await advanceTime(fleet, instance, { ms: 5000, steps: 150 })
  const message = 'For 303 seconds no instance that claimed the task supported its format, which is of a later version'
  expect(await instance.see(taskId)).toMatchObject({ status: 'failed', error: { code: errorCodes.internal, message } })
  expect(done).toEqual([])
})

describe('over PostgreSQL', () => {
  let postgres: RealPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.close())

  test('two servers of different versions run the tasks that they support, and the streams of one receive the changes of the other, without a bus', async () => {
    const { done, work } = createWorkRecorder()
    const fleet = createFleet()
    const add = (tools: readonly Tool[]): Instance => {
      const store = postgresEngine(postgres.url)
      return fleet.add(tools, { store, runtime: platformRuntime }, { strictReplay: false })
    }
    const [old, next] = [add([greet]), add([greet, young(work)])]
    const ids = await Promise.all(Array.from({ length: 8 }, () => next.start('young')))
    const heard = new Map<string, string[]>()
    const controller = new AbortController()
    const stream = old.ask(
      'subscriptions/listen',
      { notifications: { taskIds: ids } },
      {
        signal: controller.signal,
        notify: ({ method, params = {} }) => {
          if (method !== 'notifications/tasks') return
          const id = String(params['taskId'])
          heard.set(id, [...(heard.get(id) ?? []), String(params['status'])])
        },
      },
    )
    const last = (status: string): number => [...heard.values()].filter((states) => states.at(-1) === status).length
    await expect.poll(() => last('input_required')).toBe(ids.length)
    for (const id of ids) await sendTaskAnswer(old, id, { who: accept({ name: 'Ada' }) })
    await expect.poll(() => last('completed')).toBe(ids.length)
    controller.abort()
    await stream
    expect(done).toHaveLength(ids.length)
    for (const id of ids) expect(textOf((await old.see(id)).result)).toBe('one Ada')
    await Promise.all([old.server.close(), next.server.close()])
  }, 150_000)
})
