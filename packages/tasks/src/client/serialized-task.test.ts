import { describe, expect, test } from 'vitest'
import {
  createInputRequiredTask,
  beginTask,
  completedTaskResult,
  host,
  outcome,
  createTextResult,
  scriptedTasks,
  flushAsyncWork,
} from '../testing/scripted-tasks.ts'
import { createClient } from '@x/client'
import type { SerializedTask } from './serialized-task.ts'
import type { TasksClientOptions } from './settings.ts'
import { tasksClient } from './tasks-client.ts'

const named = { action: 'accept', content: { name: 'Ada' } } as const

describe('A serialized task', () => {
  const serializeTask = async (): Promise<SerializedTask> => (await beginTask(scriptedTasks({}).client)).serialize()

  test('is passed to onTask before it is followed, so that it is not lost, and is plain JSON [TSK-018]', async () => {
    const order: string[] = []
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': [completedTaskResult] },
      {
        tasks: {
          onTask: async (task) => {
            await flushAsyncWork()
            order.push(`${of('tasks/get').length} polls: ${JSON.stringify(task.serialize())}`)
          },
        },
      },
    )
    const result = client.callTool('work')
    await pass(1000, 2)
    await result
    expect(order).toEqual([
      '0 polls: {"target":"https://example.com/mcp","user":"ada","taskId":"task-1","tool":"work","answered":[]}',
    ])
  })

  test('is resumed by another process, which polls at once [TSK-018]', async () => {
    const serialized: unknown = JSON.parse(JSON.stringify(await serializeTask()))
    const { client, of } = scriptedTasks({ 'tasks/get': [completedTaskResult] })
    expect(await client.tasks.resume(serialized).result()).toEqual(createTextResult('done'))
    expect(of('tasks/get').map(({ at }) => at)).toEqual([0])
    expect(of('tools/call')).toHaveLength(0)
  })

  test('does not repeat questions that were answered before [TSK-037]', async () => {
    const first = scriptedTasks({ 'tasks/get': [createInputRequiredTask('one')] }, { client: { elicit: () => named } })
    const task = await beginTask(first.client)
    const controller = new AbortController()
    const waiting = outcome(task.result({ signal: controller.signal }))
    await first.pass(1000)
    controller.abort('moving')
    await waiting
    const serialized = task.serialize()
    expect(serialized.answered).toEqual(['one'])
    const asked: string[] = []
    const second = scriptedTasks(
      { 'tasks/get': [createInputRequiredTask('one', 'two'), completedTaskResult] },
      {
        client: {
          elicit: ({ message }) => {
            asked.push(message)
            return named
          },
        },
      },
    )
    const result = second.client.tasks.resume(serialized).result()
    await second.pass(1000)
    await result
    expect(asked).toEqual(['two'])
  })

  test('has the keys that were answered last, as many as can be resumed', async () => {
    const { client } = scriptedTasks(
      { 'tasks/get': [createInputRequiredTask('last')] },
      { client: { capabilities: { elicitation: { form: {} } } } },
    )
    const answered = Array.from({ length: 1000 }, (_, index) => `key-${index}`)
    const task = client.tasks.resume({ ...(await serializeTask()), answered })
    await task.answer({ last: named })
    const serialized = task.serialize()
    expect(serialized.answered).toEqual([...answered.slice(1), 'last'])
    expect(client.tasks.resume(serialized).taskId).toBe('task-1')
  })

  test('that the server no longer knows has expired', async () => {
    const gone = { error: { code: -32602, message: 'Task has expired' } }
    const { client } = scriptedTasks({ 'tasks/get': [gone], 'tasks/cancel': [gone] })
    const task = client.tasks.resume(await serializeTask())
    await expect(task.result()).rejects.toMatchObject({ code: 'expired', tool: 'work' })
    await expect(task.status()).rejects.toMatchObject({ code: 'expired' })
    await expect(task.cancel()).rejects.toMatchObject({ code: 'expired' })
  })

  test.each<[string, object, string]>([
    ['the target of another server', { target: 'https://other.example/mcp' }, 'foreign'],
    ['another user', { user: 'eve' }, 'foreign'],
    ['no user instead of a user', { user: null }, 'foreign'],
    ['an undefined user', { user: undefined }, 'foreign'],
    ['a task without id', { taskId: '' }, 'malformed'],
    ['an id that is too long', { taskId: 'x'.repeat(2000) }, 'malformed'],
    ['an id with an unpaired surrogate', { taskId: '\uD800' }, 'malformed'],
    ['no tool', { tool: 5 }, 'malformed'],
    ['answered keys that are not texts', { answered: [5] }, 'malformed'],
    ['too many answered keys', { answered: Array(1001).fill('x') }, 'malformed'],
  ])('is refused if it has %s', async (_title, change, code) => {
    const { client, received } = scriptedTasks({})
    const serialized = { ...(await serializeTask()), ...change }
    expect(() => client.tasks.resume(serialized)).toThrow(expect.objectContaining({ name: 'TaskError', code }))
    expect(received).toHaveLength(0)
  })

  test.each([[undefined], [null], ['task-1'], [[]], [5]])('is refused if it is %s', (serialized) => {
    const { client } = scriptedTasks({})
    expect(() => client.tasks.resume(serialized)).toThrow(expect.objectContaining({ code: 'malformed' }))
  })

  test.each<[string, string, TasksClientOptions, string?]>([
    ['target', 'in this process', { user: 'ada' }],
    ['target', 'that is a command, whose URL others share', { user: 'ada' }, 'stdio:node'],
    ['user', 'with a name', { target: 'memory' }],
  ])('requires the option `%s` for a server %s', async (name, _title, options, url) => {
    const { exchange } = scriptedTasks({}).connection
    const client = createClient({ exchange, url }, { ...host, extensions: [tasksClient(options)] })
    const task = await beginTask(client)
    expect(() => task.serialize()).toThrow(`give tasksClient() a \`${name}\``)
    expect(() => task.serialize()).toThrow(expect.objectContaining({ code: 'unidentified' }))
    expect(() => client.tasks.resume({})).toThrow(expect.objectContaining({ code: 'unidentified' }))
  })
})
