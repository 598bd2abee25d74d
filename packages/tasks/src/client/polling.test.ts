import type { JsonObject } from '@x/schema'
import { callHeadersKey, metaKeys } from '@x/schema'
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

  test('gives a plain result as it is, and asks nothing more [TSK-002 TSK-067]', async () => {
    const { client, received } = scriptedTasks({ 'tools/call': [createTextResult('at once')] })
    expect(await client.callTool('work')).toEqual(createTextResult('at once'))
    expect(await client.tasks.start('work')).toEqual({ status: 'complete', result: createTextResult('at once') })
    expect(received).toHaveLength(2)
  })

  test('looks as often as the server says at the time [TSK-016 TSK-017]', async () => {
    const intervals = [2000, 500, 3000].map((pollIntervalMs) => toGetTaskResult('working', { pollIntervalMs }))
    const { client, of, pass } = scriptedTasks({ 'tasks/get': [...intervals, completedTaskResult] })
    const result = client.callTool('work')
    await pass(100, 100)
    expect(await result).toEqual(createTextResult('done'))
    expect(of('tasks/get').map(({ at }) => at)).toEqual([1000, 3000, 3500, 6500])
  })

  test.each<[string, JsonObject, number]>([
    ['the usual time where the server says nothing', { pollIntervalMs: undefined } as never, 1000],
    ['the least for no time at all', { pollIntervalMs: 0 }, 50],
    ['the least for a negative time', { pollIntervalMs: -5000 }, 50],
    ['the most for an endless time', { pollIntervalMs: 9_007_199_254_740_991 }, 3_600_000],
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

  test('waits up to a tenth longer by chance, so that tasks spread', async () => {
    const { client, of, pass } = scriptedTasks({ 'tasks/get': [completedTaskResult] }, { tasks: { random: () => 0.5 } })
    const result = client.callTool('work')
    await pass(1, 2000)
    await result
    expect(of('tasks/get')[0]?.at).toBe(1050)
  })

  test.each([['completed'], ['input_required']])('looks at once when it is %s from the beginning', async (status) => {
    const { client, of } = scriptedTasks({
      'tools/call': [toCreateTaskResult({ status })],
      'tasks/get': [completedTaskResult],
    })
    expect(await client.callTool('work')).toEqual(createTextResult('done'))
    expect(of('tasks/get')[0]?.at).toBe(0)
  })

  test('reports the progress of a server of this project, which never decreases, and invents none', async () => {
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
    const told: unknown[] = []
    const result = client.callTool('work', {}, { onProgress: (progress) => void told.push(progress) })
    await pass(1000, 7)
    await result
    expect(told).toEqual([
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
    const told: unknown[] = []
    const result = client.callTool('work', {}, { onProgress: (progress) => void told.push(progress) })
    await pass(1000, 4)
    await result
    expect(told).toEqual([{ progress: 7 }, { progress: 7, message: 'reading' }, { progress: 7, message: 'writing' }])
  })
})

describe('A failure', () => {
  const down = { error: { code: -32603, message: 'Internal error' } }

  test('that passes is waited out, longer each time', async () => {
    const { client, of, pass } = scriptedTasks({
      'tasks/get': [down, down, down, toGetTaskResult('working'), completedTaskResult],
    })
    const result = client.callTool('work')
    await pass(500, 30)
    expect(await result).toEqual(createTextResult('done'))
    expect(of('tasks/get').map(({ at }) => at)).toEqual([1000, 2000, 4000, 8000, 9000])
  })

  test('that lasts ends the following, and says that the task may go on', async () => {
    const { client, clock, pass } = scriptedTasks({ 'tasks/get': [down] }, { tasks: { failureTimeoutMs: 10_000 } })
    const result = outcome(client.callTool('work'))
    await pass(1000, 40)
    expect(await result).toMatchObject({
      error: { name: 'TaskError', code: 'unreachable', tool: 'work', cause: { code: 'rpc' } },
    })
    expect(clock.waiting).toBe(0)
  })

  test('that comes now and then does not add up', async () => {
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
    ['the method is not there', -32601],
    ['the capability is not seen', -32021],
  ])('that no other request would mend ends the following at once: %s', async (_title, code) => {
    const { client, of, pass } = scriptedTasks({ 'tasks/get': [{ error: { code, message: 'no' } }] })
    const result = outcome(client.callTool('work'))
    await pass(1000)
    expect(await result).toMatchObject({ error: { name: 'ClientError', rpc: { code } } })
    expect(of('tasks/get')).toHaveLength(1)
  })

  test('of a look that never ends is one like others', async () => {
    const { client, pass } = scriptedTasks({ 'tasks/get': [unresolvedPromise, completedTaskResult] })
    const result = client.callTool('work', {}, { timeoutMs: 5000 })
    await pass(500, 30)
    expect(await result).toEqual(createTextResult('done'))
  })
})

describe('The end of a task', () => {
  test('that failed is the error of its call', async () => {
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
    ['which says so', {}, 'was cancelled'],
    ['which says why', { statusMessage: 'the user left' }, 'was cancelled: the user left'],
  ])('that was cancelled is a failure %s', async (_title, more, message) => {
    const { client, pass } = scriptedTasks({ 'tasks/get': [toGetTaskResult('cancelled', more)] })
    const result = outcome(client.callTool('work'))
    await pass(1000)
    expect(await result).toMatchObject({ error: { code: 'cancelled', message: expect.stringContaining(message) } })
  })

  test('that has expired rejects with a clear error, and no cancellation is sent', async () => {
    const gone = { error: { code: -32602, message: 'Task not found' } }
    const { client, of, pass } = scriptedTasks({ 'tasks/get': [toGetTaskResult('working'), gone] })
    const result = outcome(client.callTool('work'))
    await pass(1000, 2)
    expect(await result).toMatchObject({
      error: { code: 'expired', tool: 'work', message: expect.stringContaining('has expired'), cause: { code: 'rpc' } },
    })
    expect(of('tasks/cancel')).toHaveLength(0)
  })

  test('with isError is a result like any', async () => {
    const failed = { ...createTextResult('no'), isError: true }
    const { client, pass } = scriptedTasks({ 'tasks/get': [toGetTaskResult('completed', { result: failed })] })
    const result = client.callTool('work')
    await pass(1000)
    expect(await result).toEqual(failed)
  })

  test('with a result without resultType is complete', async () => {
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
