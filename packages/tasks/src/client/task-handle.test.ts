import { describe, expect, test } from 'vitest'
import {
  beginTask,
  completedTaskResult,
  toCreateTaskResult,
  toGetTaskResult,
  host,
  outcome,
  createTextResult,
  scriptedTasks,
  flushAsyncWork,
} from '../testing/scripted-tasks.ts'
import { type ClientExtension, createClient } from '@x/client'
import type { CallToolResult } from '@x/schema'
import type { TasksClientOptions } from './settings.ts'
import { isTaskError, TaskError } from './task-error.ts'
import type { TaskHandle } from './task-handle.ts'
import { tasksClient, tasksOf } from './tasks-client.ts'

describe('A handle', () => {
  test('returns the status of its task at any time', async () => {
    const { client } = scriptedTasks({
      'tasks/get': [toGetTaskResult('working', { statusMessage: 'reading' }), completedTaskResult],
    })
    const task = await beginTask(client)
    expect([task.taskId, task.tool]).toEqual(['task-1', 'work'])
    expect(await task.status()).toMatchObject({ status: 'working', statusMessage: 'reading' })
    expect(await task.status()).toMatchObject({ status: 'completed', result: createTextResult('done') })
  })

  test('yields each state once, up to the final state', async () => {
    const states = [
      toGetTaskResult('working'),
      toGetTaskResult('working'),
      toGetTaskResult('working', { statusMessage: 'x' }),
      completedTaskResult,
    ]
    const { client, clock, pass } = scriptedTasks({ 'tasks/get': states })
    const seen: unknown[] = []
    const iterating = (async () => {
      for await (const { status, statusMessage } of await beginTask(client)) seen.push([status, statusMessage])
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

  test('stops polling when the iteration ends', async () => {
    const { client, clock, of, pass } = scriptedTasks({})
    const iterating = (async () => {
      for await (const _ of await beginTask(client)) break
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
  ])('stops waiting when the signal for %s aborts, and its task continues', async (_title, wait) => {
    const { client, clock, of, pass } = scriptedTasks({})
    const controller = new AbortController()
    const waiting = outcome(wait(await beginTask(client), controller.signal))
    await pass(500)
    controller.abort('enough')
    expect(await waiting).toEqual({ error: 'enough' })
    await pass(1000, 3)
    expect([of('tasks/get').length, of('tasks/cancel').length, clock.waiting]).toEqual([0, 0, 0])
  })

  test('cancels with `tasks/cancel`, and the result rejects after the server has cancelled the task [TSK-040]', async () => {
    const { client, pass, received } = scriptedTasks({
      'tasks/get': [toGetTaskResult('working'), toGetTaskResult('cancelled')],
    })
    const task = await beginTask(client)
    const result = outcome(task.result())
    await task.cancel()
    await pass(1000, 2)
    const { error } = Object(await result)
    expect([isTaskError(error), error instanceof TaskError, error.code]).toEqual([true, true, 'cancelled'])
    expect(received.map(({ method, params }) => [method, params['taskId']])).toEqual([
      ['tools/call', undefined],
      ['tasks/cancel', 'task-1'],
      ['tasks/get', 'task-1'],
      ['tasks/get', 'task-1'],
    ])
  })

  test('returns the result of a task that completed before its cancellation', async () => {
    const { client, pass } = scriptedTasks({ 'tasks/get': [completedTaskResult] })
    const task = await beginTask(client)
    await task.cancel()
    const result = task.result()
    await pass(1000)
    expect(await result).toEqual(createTextResult('done'))
  })
})

describe('A call that gives up its task', () => {
  test.each<[string, TasksClientOptions, number]>([
    ['cancels it', {}, 1],
    ['leaves it running with the option `leave`', { onAbort: 'leave' }, 0],
  ])('because its signal aborts %s [TSK-040]', async (_title, tasks, cancelled) => {
    const { client, clock, of, pass } = scriptedTasks({}, { tasks })
    const controller = new AbortController()
    const result = outcome(client.callTool('work', {}, { signal: controller.signal }))
    await pass(1000, 2)
    const reason = new Error('the user left')
    controller.abort(reason)
    expect(await result).toEqual({ error: reason })
    await flushAsyncWork()
    expect(of('tasks/cancel').map(({ params }) => params)).toEqual(
      Array.from({ length: cancelled }, () => ({ taskId: 'task-1' })),
    )
    expect(clock.waiting).toBe(0)
  })

  test('rejects with the reason also if the task cannot be cancelled', async () => {
    const { client, pass } = scriptedTasks({ 'tasks/cancel': [{ error: { code: -32603, message: 'no' } }] })
    const controller = new AbortController()
    const result = outcome(client.callTool('work', {}, { signal: controller.signal }))
    await pass(1000)
    controller.abort('enough')
    expect(await result).toEqual({ error: 'enough' })
    await flushAsyncWork()
  })

  test.each([['onTask'], ['onProgress']])('because %s threw rejects with that error', async (listener) => {
    const broken = new Error('broken')
    const fail = (): never => {
      throw broken
    }
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': [toGetTaskResult('working', { statusMessage: 'x' })] },
      { tasks: listener === 'onTask' ? { onTask: fail } : {} },
    )
    const result = outcome(client.callTool('work', {}, listener === 'onProgress' ? { onProgress: fail } : {}))
    await pass(1000)
    expect(await result).toEqual({ error: broken })
    await flushAsyncWork()
    expect(of('tasks/cancel')).toHaveLength(1)
  })

  test.each<[string, TasksClientOptions, number]>([
    ['cancels it', {}, 1],
    ['leaves it running with the option `leave`', { onAbort: 'leave' }, 0],
  ])('because onTask of `start` threw %s', async (_title, options, cancelled) => {
    const broken = new Error('cannot save')
    const onTask = () => Promise.reject(broken)
    const { client, of } = scriptedTasks({}, { tasks: { ...options, onTask } })
    expect(await outcome(client.tasks.start('work'))).toEqual({ error: broken })
    expect(of('tasks/cancel')).toHaveLength(cancelled)
  })
})

describe('A client with tasks', () => {
  test('declares the extension, and a client without tasks rejects a task', async () => {
    const { connection, of } = scriptedTasks({ 'tools/call': [toCreateTaskResult({ _meta: serverInfo })] })
    const plain = createClient(connection, host)
    const client = createClient(connection, { ...host, extensions: [tasksClient()] })
    await beginTask(client)
    expect(client.serverInfo).toEqual({ name: 'demo', version: '2' })
    await expect(plain.callTool('work')).rejects.toMatchObject({ code: 'invalid_result' })
    expect(of('tools/call').map(({ meta }) => JSON.stringify(meta).includes('extensions'))).toEqual([true, false])
  })

  test('names the server in the error of a task', async () => {
    const failed = toGetTaskResult('failed', { error: { code: -32603, message: 'no luck' } })
    const { client, pass } = scriptedTasks({
      'tools/call': [toCreateTaskResult({ _meta: serverInfo })],
      'tasks/get': [failed],
    })
    const result = outcome(client.callTool('work'))
    await pass(1000)
    expect(await result).toMatchObject({ error: { server: 'demo 2 (https://example.com/mcp)', target: 'work' } })
  })

  test('is accessible with `tasksOf` if its type lacks the member `tasks`', async () => {
    const { client, connection } = scriptedTasks({})
    expect(tasksOf(client)).toBe(client.tasks)
    expect(() => tasksOf(createClient(connection, host))).toThrow(TypeError)
  })

  test('lets a later extension handle another result type, also of a started call', async () => {
    const other = { resultType: 'com.example/other' }
    const { connection } = scriptedTasks({ 'tools/call': [other] })
    const completing: ClientExtension<'completing', undefined> = {
      extends: 'client',
      name: 'completing',
      identifier: 'com.example/completing',
      start: () => ({
        wrapCall: (next) => async (call) => {
          const outcome = await next(call)
          return outcome.resultType === 'other' ? { resultType: 'complete', result: emptyResult } : outcome
        },
      }),
    }
    const client = createClient(connection, { ...host, extensions: [tasksClient(), completing] })
    expect(await client.tasks.start('work')).toEqual({ status: 'complete', result: emptyResult })
    expect(await client.callTool('work')).toEqual(emptyResult)
    const alone = createClient(connection, { ...host, extensions: [tasksClient()] })
    await expect(alone.tasks.start('work')).rejects.toMatchObject({ code: 'invalid_result' })
    await expect(alone.callTool('work')).rejects.toMatchObject({ code: 'invalid_result' })
  })

  test.each<[TasksClientOptions]>([
    [{ failureTimeoutMs: 0 }],
    [{ maxTaskMs: Number.NaN }],
    [{ polling: { maxMs: Number.POSITIVE_INFINITY } }],
    [{ polling: { minMs: -1 } }],
  ])('is not created with %o', (options) => {
    expect(() => tasksClient(options)).toThrow(RangeError)
  })
})

const emptyResult: CallToolResult = { resultType: 'complete', content: [] }
const serverInfo = { 'io.modelcontextprotocol/serverInfo': { name: 'demo', version: '2' } }
