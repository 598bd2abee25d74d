import { describe, expect, test } from 'vitest'
import {
  asking,
  begunTask,
  completed,
  created,
  got,
  host,
  outcome,
  said,
  scriptedTasks,
  settled,
} from '../testing/scripted-tasks.ts'
import { createClient } from '@x/client'
import type { KeptTask } from './kept-task.ts'
import type { TasksClientOptions } from './settings.ts'
import { isTaskFailure, TaskFailure } from './task-failure.ts'
import type { TaskHandle } from './task-handle.ts'
import { withTasks } from './with-tasks.ts'

const named = { action: 'accept', content: { name: 'Ada' } } as const

describe('A handle', () => {
  test('says how its task stands, at any time', async () => {
    const { client } = scriptedTasks({ 'tasks/get': [got('working', { statusMessage: 'reading' }), completed] })
    const task = await begunTask(client)
    expect([task.taskId, task.tool]).toEqual(['task-1', 'work'])
    expect(await task.status()).toMatchObject({ status: 'working', statusMessage: 'reading' })
    expect(await task.status()).toMatchObject({ status: 'completed', result: said('done') })
  })

  test('is iterated over state by state, each told once, to the last', async () => {
    const states = [got('working'), got('working'), got('working', { statusMessage: 'x' }), completed]
    const { client, clock, pass } = scriptedTasks({ 'tasks/get': states })
    const seen: unknown[] = []
    const iterating = (async () => {
      for await (const { status, statusMessage } of await begunTask(client)) seen.push([status, statusMessage])
    })()
    await pass(1000, 4)
    await iterating
    expect(seen).toEqual([
      ['working', undefined],
      ['working', 'x'],
      ['completed', undefined],
    ])
    expect(clock.waiting).toBe(0)
  })

  test('stops looking when the iteration is left', async () => {
    const { client, clock, of, pass } = scriptedTasks({})
    const iterating = (async () => {
      for await (const _ of await begunTask(client)) break
    })()
    await pass(1000)
    await iterating
    await pass(1000, 5)
    expect(of('tasks/get')).toHaveLength(1)
    expect(clock.waiting).toBe(0)
  })

  test.each<[string, (task: TaskHandle, signal: AbortSignal) => Promise<unknown>]>([
    ['its result', (task, signal) => task.result({ signal })],
    ['its states', (task, signal) => task.states({ signal })[Symbol.asyncIterator]().next()],
  ])('is not waited for any longer when the signal for %s aborts, and its task goes on', async (_title, wait) => {
    const { client, clock, of, pass } = scriptedTasks({})
    const controller = new AbortController()
    const waiting = outcome(wait(await begunTask(client), controller.signal))
    await pass(500)
    controller.abort('enough')
    expect(await waiting).toEqual({ error: 'enough' })
    await pass(1000, 3)
    expect([of('tasks/get').length, of('tasks/cancel').length, clock.waiting]).toEqual([0, 0, 0])
  })

  test('cancels with tasks/cancel, and the result says so when the server has done it [TSK-040]', async () => {
    const { client, pass, received } = scriptedTasks({ 'tasks/get': [got('working'), got('cancelled')] })
    const task = await begunTask(client)
    const result = outcome(task.result())
    await task.cancel()
    await pass(1000, 2)
    const { error } = Object(await result)
    expect([isTaskFailure(error), error instanceof TaskFailure, error.code]).toEqual([true, true, 'cancelled'])
    expect(received.map(({ method, params }) => [method, params['taskId']])).toEqual([
      ['tools/call', undefined],
      ['tasks/cancel', 'task-1'],
      ['tasks/get', 'task-1'],
      ['tasks/get', 'task-1'],
    ])
  })

  test('whose task came to a result before it could be cancelled gives that', async () => {
    const { client, pass } = scriptedTasks({ 'tasks/get': [completed] })
    const task = await begunTask(client)
    await task.cancel()
    const result = task.result()
    await pass(1000)
    expect(await result).toEqual(said('done'))
  })
})

describe('A call that is not waited for any more', () => {
  test.each<[string, TasksClientOptions, number]>([
    ['has its task cancelled', {}, 1],
    ['leaves its task where the host wants that', { whenAbandoned: 'leave' }, 0],
  ])('%s [TSK-040]', async (_title, tasks, cancelled) => {
    const { client, clock, of, pass } = scriptedTasks({}, { tasks })
    const controller = new AbortController()
    const result = outcome(client.callTool('work', {}, { signal: controller.signal }))
    await pass(1000, 2)
    const reason = new Error('the user left')
    controller.abort(reason)
    expect(await result).toEqual({ error: reason })
    await settled()
    expect(of('tasks/cancel').map(({ params }) => params)).toEqual(
      Array.from({ length: cancelled }, () => ({ taskId: 'task-1' })),
    )
    expect(clock.waiting).toBe(0)
  })

  test('rejects with the reason also where the task cannot be cancelled', async () => {
    const { client, pass } = scriptedTasks({ 'tasks/cancel': [{ error: { code: -32603, message: 'no' } }] })
    const controller = new AbortController()
    const result = outcome(client.callTool('work', {}, { signal: controller.signal }))
    await pass(1000)
    controller.abort('enough')
    expect(await result).toEqual({ error: 'enough' })
    await settled()
  })

  test.each([['onTask'], ['onProgress']])('because %s threw rejects with that', async (listener) => {
    const broken = new Error('broken')
    const { client, of, pass } = scriptedTasks({ 'tasks/get': [got('working', { statusMessage: 'x' })] })
    const failing = {
      [listener]: () => {
        throw broken
      },
    }
    const result = outcome(client.callTool('work', {}, failing))
    await pass(1000)
    expect(await result).toEqual({ error: broken })
    await settled()
    expect(of('tasks/cancel')).toHaveLength(1)
  })
})

describe('A task that is kept', () => {
  const keeping = async (): Promise<KeptTask> => (await begunTask(scriptedTasks({}).client)).keep()

  test('is told before it is followed, so that nothing is lost, and is plain JSON [TSK-018]', async () => {
    const order: string[] = []
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': [completed] },
      {
        tasks: {
          onTask: async (task) => {
            await settled()
            order.push(`${of('tasks/get').length} looks: ${JSON.stringify(task.keep())}`)
          },
        },
      },
    )
    const result = client.callTool('work')
    await pass(1000, 2)
    await result
    expect(order).toEqual([
      '0 looks: {"target":"https://example.com/mcp","user":"ada","taskId":"task-1","tool":"work","answered":[]}',
    ])
  })

  test('is taken up by another process, which looks at once [TSK-018]', async () => {
    const kept: unknown = JSON.parse(JSON.stringify(await keeping()))
    const { client, of } = scriptedTasks({ 'tasks/get': [completed] })
    expect(await client.resumeTask(kept).result()).toEqual(said('done'))
    expect(of('tasks/get').map(({ at }) => at)).toEqual([0])
    expect(of('tools/call')).toHaveLength(0)
  })

  test('does not ask again what was answered before [TSK-037]', async () => {
    const first = scriptedTasks({ 'tasks/get': [asking('one')] }, { client: { elicit: () => named } })
    const task = await begunTask(first.client)
    const controller = new AbortController()
    const waiting = outcome(task.result({ signal: controller.signal }))
    await first.pass(1000)
    controller.abort('moving')
    await waiting
    const kept = task.keep()
    expect(kept.answered).toEqual(['one'])
    const asked: string[] = []
    const second = scriptedTasks(
      { 'tasks/get': [asking('one', 'two'), completed] },
      {
        client: {
          elicit: ({ message }) => {
            asked.push(message)
            return named
          },
        },
      },
    )
    const result = second.client.resumeTask(kept).result()
    await second.pass(1000)
    await result
    expect(asked).toEqual(['two'])
  })

  test('that the server does not know any more has expired', async () => {
    const gone = { error: { code: -32602, message: 'Task has expired' } }
    const { client } = scriptedTasks({ 'tasks/get': [gone], 'tasks/cancel': [gone] })
    const task = client.resumeTask(await keeping())
    await expect(task.result()).rejects.toMatchObject({ code: 'expired', tool: 'work' })
    await expect(task.status()).rejects.toMatchObject({ code: 'expired' })
    await expect(task.cancel()).rejects.toMatchObject({ code: 'expired' })
  })

  test.each<[string, object, string]>([
    ['another server', { target: 'https://other.example/mcp' }, 'foreign'],
    ['another user', { user: 'eve' }, 'foreign'],
    ['no user, which is not the same as one', { user: null }, 'foreign'],
    ['nobody knows whom', { user: undefined }, 'foreign'],
    ['a task without id', { taskId: '' }, 'malformed'],
    ['an endless id', { taskId: 'x'.repeat(2000) }, 'malformed'],
    ['an id with half a character', { taskId: '\uD800' }, 'malformed'],
    ['no tool', { tool: 5 }, 'malformed'],
    ['answers that are none', { answered: [5] }, 'malformed'],
    ['too many answers', { answered: Array(1001).fill('x') }, 'malformed'],
  ])('is refused when it is of %s', async (_title, change, code) => {
    const { client, received } = scriptedTasks({})
    const kept = { ...(await keeping()), ...change }
    expect(() => client.resumeTask(kept)).toThrow(expect.objectContaining({ name: 'TaskFailure', code }))
    expect(received).toHaveLength(0)
  })

  test.each([[undefined], [null], ['task-1'], [[]], [5]])('is refused when it is %s', (kept) => {
    const { client } = scriptedTasks({})
    expect(() => client.resumeTask(kept)).toThrow(expect.objectContaining({ code: 'malformed' }))
  })

  test.each<[string, TasksClientOptions]>([
    ['which server it is of', { user: 'ada' }],
    ['whose it is', { target: 'memory' }],
  ])('must be known %s', async (_title, options) => {
    const { exchange } = scriptedTasks({})
    const unnamed: typeof exchange = Object.assign((...given: Parameters<typeof exchange>) => exchange(...given), {
      url: undefined as never,
    })
    const client = withTasks(createClient(unnamed, host), options)
    const task = await begunTask(client)
    expect(() => task.keep()).toThrow(expect.objectContaining({ code: 'unidentified' }))
    expect(() => client.resumeTask({})).toThrow(expect.objectContaining({ code: 'unidentified' }))
  })
})

describe('A client with tasks', () => {
  test('is the client that it was in everything else, and leaves that as it was', async () => {
    const { exchange, of } = scriptedTasks({ 'tools/call': [created({ _meta: serverInfo })] })
    const plain = createClient(exchange, host)
    const client = withTasks(plain)
    await begunTask(client)
    expect(client.server).toEqual({ name: 'demo', version: '2' })
    expect(client.cache).toBe(plain.cache)
    await expect(plain.callTool('work')).rejects.toMatchObject({ code: 'invalid_result' })
    expect(of('tools/call').map(({ meta }) => JSON.stringify(meta).includes('extensions'))).toEqual([true, false])
  })

  test.each<[TasksClientOptions]>([
    [{ patienceMs: 0 }],
    [{ maxTaskMs: Number.NaN }],
    [{ polling: { mostMs: Number.POSITIVE_INFINITY } }],
    [{ polling: { leastMs: -1 } }],
  ])('is not made with %o', (options) => {
    expect(() => withTasks(createClient(scriptedTasks({}).exchange, host), options)).toThrow(RangeError)
  })
})

const serverInfo = { 'io.modelcontextprotocol/serverInfo': { name: 'demo', version: '2' } }
