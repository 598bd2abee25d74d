import type { JsonObject } from '@x/schema'
import { callHeadersKey } from '@x/exchange'
import { metaKeys } from '@x/schema'
import { describe, expect, test } from 'vitest'
import {
  beginTask,
  completedTaskResult,
  toCreateTaskResult,
  toGetTaskResult,
  unresolvedPromise,
  outcome,
  createTextResult,
  scriptedTasks,
} from '../testing/scripted-tasks.ts'

describe('Following a task', () => {
  test('declares the extension with each request about it, and with no other [TSK-067]', async () => {
    const { client, pass, received } = scriptedTasks({
      'tasks/get': [completedTaskResult],
      'prompts/get': [createTextResult('x')],
    })
    const result = client.callTool('work')
    await pass(1000)
    await result
    await outcome(client.getPrompt('p'))
    const declared = received.map(({ method, meta }) => [method, meta[metaKeys.clientCapabilities]])
    expect(declared).toEqual([
      ['tools/call', { extensions: { 'io.modelcontextprotocol/tasks': {} } }],
      ['tasks/get', { extensions: { 'io.modelcontextprotocol/tasks': {} } }],
      ['prompts/get', {}],
    ])
  })

  test('repeats the id of the task in Mcp-Name [TSK-048]', async () => {
    const { client, pass, received } = scriptedTasks({ 'tasks/get': [toGetTaskResult('working'), completedTaskResult] })
    const task = await beginTask(client)
    await task.status()
    await task.cancel()
    const result = task.result()
    await pass(1000)
    await result
    const about = received.filter(({ method }) => method.startsWith('tasks/'))
    expect(about.map(({ method, call }) => [method, call.context.get(callHeadersKey)?.get('Mcp-Name')])).toEqual([
      ['tasks/get', 'task-1'],
      ['tasks/cancel', 'task-1'],
      ['tasks/get', 'task-1'],
    ])
  })

  test('returns a plain result unchanged, without further requests [TSK-002 TSK-067]', async () => {
    const { client, received } = scriptedTasks({ 'tools/call': [createTextResult('at once')] })
    expect(await client.callTool('work')).toEqual(createTextResult('at once'))
    expect(await client.tasks.start('work')).toEqual({ status: 'complete', result: createTextResult('at once') })
    expect(received).toHaveLength(2)
  })

  test('polls at the interval of the last response [TSK-016 TSK-017]', async () => {
    const intervals = [2000, 500, 3000].map((pollIntervalMs) => toGetTaskResult('working', { pollIntervalMs }))
    const { client, of, pass } = scriptedTasks({ 'tasks/get': [...intervals, completedTaskResult] })
    const result = client.callTool('work')
    await pass(100, 100)
    expect(await result).toEqual(createTextResult('done'))
    expect(of('tasks/get').map(({ at }) => at)).toEqual([1000, 3000, 3500, 6500])
  })

  test.each<[string, JsonObject, number]>([
    ['the default interval without a suggestion', { pollIntervalMs: undefined } as never, 1000],
    ['the minimum for an interval of 0', { pollIntervalMs: 0 }, 50],
    ['the minimum for a negative interval', { pollIntervalMs: -5000 }, 50],
    ['the maximum for a very long interval', { pollIntervalMs: 9_007_199_254_740_991 }, 3_600_000],
  ])('waits %s', async (_title, more, ms) => {
    const { client, clock, of, pass } = scriptedTasks({
      'tools/call': [toCreateTaskResult(more)],
      'tasks/get': [completedTaskResult],
    })
    const result = client.callTool('work')
    await pass(ms - 1)
    expect(of('tasks/get')).toHaveLength(0)
    await pass(1)
    await result
    expect(clock.waiting).toBe(0)
  })

  test('waits up to a tenth longer at random, so that polls are distributed', async () => {
    const { client, of, pass } = scriptedTasks({ 'tasks/get': [completedTaskResult] }, { tasks: { random: () => 0.5 } })
    const result = client.callTool('work')
    await pass(1, 2000)
    await result
    expect(of('tasks/get')[0]?.at).toBe(1050)
  })

  test.each([['completed'], ['input_required']])(
    'polls at once a task that is %s from the beginning',
    async (status) => {
      const { client, of } = scriptedTasks({
        'tools/call': [toCreateTaskResult({ status })],
        'tasks/get': [completedTaskResult],
      })
      expect(await client.callTool('work')).toEqual(createTextResult('done'))
      expect(of('tasks/get')[0]?.at).toBe(0)
    },
  )

  test('reports only increasing progress of a server of this project', async () => {
    const at = (progress: unknown, statusMessage?: string) =>
      toGetTaskResult('working', {
        ...(statusMessage !== undefined && { statusMessage }),
        _meta: { 'dev.x/progress': progress },
      } as never)
    const { client, pass } = scriptedTasks({
      'tools/call': [toCreateTaskResult()],
      'tasks/get': [
        toGetTaskResult('working'),
        at({ progress: 6, total: 40 }, 'imported'),
        at({ progress: 6, total: 40 }, 'imported'),
        at({ progress: 2, total: 40 }, 'imported'),
        at({ progress: 'many' }, 'imported'),
        at({ progress: 7 }),
        completedTaskResult,
      ],
    })
    const reported: unknown[] = []
    const result = client.callTool('work', {}, { onProgress: (progress) => void reported.push(progress) })
    await pass(1000, 7)
    await result
    expect(reported).toEqual([
      { progress: 6, total: 40, message: 'imported' },
      { progress: 7, message: 'imported' },
    ])
  })

  test('reports the message of the task with the last known progress', async () => {
    const { client, pass } = scriptedTasks({
      'tools/call': [
        ({ call, meta }) => {
          const params = { progressToken: meta.progressToken as string, progress: 7 }
          call.notify({ jsonrpc: '2.0', method: 'notifications/progress', params })
          return toCreateTaskResult()
        },
      ],
      'tasks/get': [
        toGetTaskResult('working', { statusMessage: 'reading' }),
        toGetTaskResult('working', { statusMessage: 'reading' }),
        toGetTaskResult('working', { statusMessage: 'writing' }),
        completedTaskResult,
      ],
    })
    const reported: unknown[] = []
    const result = client.callTool('work', {}, { onProgress: (progress) => void reported.push(progress) })
    await pass(1000, 4)
    await result
    expect(reported).toEqual([
      { progress: 7 },
      { progress: 7, message: 'reading' },
      { progress: 7, message: 'writing' },
    ])
  })
})

describe('A failure', () => {
  const down = { error: { code: -32603, message: 'Internal error' } }

  test('that is transient is retried after growing pauses', async () => {
    const { client, of, pass } = scriptedTasks({
      'tasks/get': [down, down, down, toGetTaskResult('working'), completedTaskResult],
    })
    const result = client.callTool('work')
    await pass(500, 30)
    expect(await result).toEqual(createTextResult('done'))
    expect(of('tasks/get').map(({ at }) => at)).toEqual([1000, 2000, 4000, 8000, 9000])
  })

  test('that lasts ends the polling, and the error says that the task may continue', async () => {
    const { client, clock, pass } = scriptedTasks({ 'tasks/get': [down] }, { tasks: { failureTimeoutMs: 10_000 } })
    const result = outcome(client.callTool('work'))
    await pass(1000, 40)
    expect(await result).toMatchObject({
      error: { name: 'TaskError', code: 'unreachable', tool: 'work', cause: { code: 'rpc' } },
    })
    expect(clock.waiting).toBe(0)
  })

  test('that is followed by a success resets the failure time', async () => {
    const { client, pass } = scriptedTasks(
      {
        'tasks/get': [
          down,
          toGetTaskResult('working'),
          down,
          toGetTaskResult('working'),
          down,
          toGetTaskResult('working'),
          completedTaskResult,
        ],
      },
      { tasks: { failureTimeoutMs: 1500 } },
    )
    const result = client.callTool('work')
    await pass(500, 40)
    expect(await result).toEqual(createTextResult('done'))
  })

  test.each<[string, number]>([
    ['unknown method', -32601],
    ['missing capability', -32021],
  ])('that is permanent ends the polling at once: %s', async (_title, code) => {
    const { client, of, pass } = scriptedTasks({ 'tasks/get': [{ error: { code, message: 'no' } }] })
    const result = outcome(client.callTool('work'))
    await pass(1000)
    expect(await result).toMatchObject({ error: { name: 'ClientError', rpc: { code } } })
    expect(of('tasks/get')).toHaveLength(1)
  })

  test('of a poll that never settles is retried after its time limit', async () => {
    const { client, pass } = scriptedTasks({ 'tasks/get': [unresolvedPromise, completedTaskResult] })
    const result = client.callTool('work', {}, { timeoutMs: 5000 })
    await pass(500, 30)
    expect(await result).toEqual(createTextResult('done'))
  })
})

describe('The end of a task', () => {
  test('that failed rejects its call with the error', async () => {
    const error = { code: -32050, message: 'rate limit\nexceeded', data: { after: 5 } }
    const { client, of, pass } = scriptedTasks({ 'tasks/get': [toGetTaskResult('failed', { error })] })
    const result = outcome(client.callTool('work'))
    await pass(1000)
    expect(await result).toMatchObject({
      error: {
        name: 'ClientError',
        code: 'rpc',
        method: 'tools/call',
        target: 'work',
        rpc: error,
        message: expect.stringContaining('-32050 rate limit exceeded'),
      },
    })
    expect(of('tasks/cancel')).toHaveLength(0)
  })

  test.each<[string, JsonObject, string]>([
    ['without a reason', {}, 'was cancelled'],
    ['with a reason', { statusMessage: 'the user left' }, 'was cancelled: the user left'],
  ])('that was cancelled rejects %s', async (_title, more, message) => {
    const { client, pass } = scriptedTasks({ 'tasks/get': [toGetTaskResult('cancelled', more)] })
    const result = outcome(client.callTool('work'))
    await pass(1000)
    expect(await result).toMatchObject({ error: { code: 'cancelled', message: expect.stringContaining(message) } })
  })

  test('that has expired rejects with `expired`, and no cancellation is sent', async () => {
    const gone = { error: { code: -32602, message: 'Task not found' } }
    const { client, of, pass } = scriptedTasks({ 'tasks/get': [toGetTaskResult('working'), gone] })
    const result = outcome(client.callTool('work'))
    await pass(1000, 2)
    expect(await result).toMatchObject({
      error: { code: 'expired', tool: 'work', message: expect.stringContaining('has expired'), cause: { code: 'rpc' } },
    })
    expect(of('tasks/cancel')).toHaveLength(0)
  })

  test('with `isError` is a result', async () => {
    const failed = { ...createTextResult('no'), isError: true }
    const { client, pass } = scriptedTasks({ 'tasks/get': [toGetTaskResult('completed', { result: failed })] })
    const result = client.callTool('work')
    await pass(1000)
    expect(await result).toEqual(failed)
  })

  test('with a result without `resultType` is complete', async () => {
    const { content } = createTextResult('done')
    const { client, pass } = scriptedTasks({
      'tasks/get': [toGetTaskResult('completed', { result: { content: content ?? [] } })],
    })
    const result = client.callTool('work')
    await pass(1000)
    expect(await result).toEqual(createTextResult('done'))
  })

  test('is checked against the output schema of the tool', async () => {
    const outputSchema = { type: 'object' }
    const tools = [{ name: 'work', inputSchema: { type: 'object' }, outputSchema }]
    const { client, pass } = scriptedTasks(
      {
        'tasks/get': [
          toGetTaskResult('completed', { result: { ...createTextResult('x'), structuredContent: { n: 1 } } }),
        ],
        'tools/list': [{ resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' }],
      },
      { client: { outputSchemaCompiler: () => () => [{ path: '/n', message: 'wrong' }] } },
    )
    const result = outcome(client.callTool('work'))
    await pass(1000)
    expect(await result).toMatchObject({ error: { code: 'invalid_output' } })
  })
})
