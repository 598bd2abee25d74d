import type { InputContext } from '@x/client'
import { describe, expect, test } from 'vitest'
import {
  acknowledgementResult,
  createInputRequiredTask,
  beginTask,
  completedTaskResult,
  toCreateTaskResult,
  toGetTaskResult,
  outcome,
  createQuestion,
  createTextResult,
  scriptedTasks,
} from '../testing/scripted-tasks.ts'

const named = (name: string) => ({ action: 'accept', content: { name } }) as const

describe('A question of a task', () => {
  test('is answered by the handlers, and the task is followed further [TSK-009 TSK-010 TSK-028 TSK-029]', async () => {
    const contexts: InputContext[] = []
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': [createInputRequiredTask('one', 'two'), toGetTaskResult('working'), completedTaskResult] },
      {
        client: {
          elicit: ({ message }, context) => {
            contexts.push(context)
            return named(message)
          },
        },
      },
    )
    const result = client.callTool('work')
    await pass(1000, 3)
    expect(await result).toEqual(createTextResult('done'))
    expect(contexts.map(({ key, method, target, round }) => [key, method, target, round])).toEqual([
      ['one', 'tools/call', 'work', 1],
      ['two', 'tools/call', 'work', 1],
    ])
    expect(of('tasks/update').map(({ params }) => params)).toEqual([
      { taskId: 'task-1', inputResponses: { one: named('one'), two: named('two') } },
    ])
  })

  test('is asked once, also if later states repeat it, and each key is asked separately [TSK-030 TSK-037]', async () => {
    const asked: string[] = []
    const states = [
      createInputRequiredTask('one'),
      createInputRequiredTask('one'),
      createInputRequiredTask('two', 'one'),
      createInputRequiredTask('two'),
      completedTaskResult,
    ]
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': states },
      {
        client: {
          elicit: ({ message }) => {
            asked.push(message)
            return named(message)
          },
        },
      },
    )
    const result = client.callTool('work')
    await pass(1000, 5)
    await result
    expect(asked).toEqual(['one', 'two'])
    expect(of('tasks/update').map(({ params }) => Object.keys(Object(params['inputResponses'])))).toEqual([
      ['one'],
      ['two'],
    ])
  })

  test('is not asked again while another caller of the same handle asks it [TSK-030]', async () => {
    let asked = 0
    const { client, pass } = scriptedTasks(
      { 'tasks/get': [createInputRequiredTask('one'), createInputRequiredTask('one'), completedTaskResult] },
      {
        client: {
          elicit: () => {
            asked += 1
            return named('x')
          },
        },
      },
    )
    const task = await beginTask(client)
    const results = [task.result(), task.result()]
    await pass(1000, 3)
    expect(await Promise.all(results)).toEqual([createTextResult('done'), createTextResult('done')])
    expect(asked).toBe(1)
  })

  test('is aborted when the task no longer asks it, and its answer is not sent [TSK-034]', async () => {
    const signals: AbortSignal[] = []
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': [createInputRequiredTask('one'), toGetTaskResult('working'), completedTaskResult] },
      {
        client: {
          elicit: (_question, { signal }) => {
            signals.push(signal)
            return new Promise(() => {})
          },
        },
      },
    )
    const result = client.callTool('work')
    await pass(1000)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    await pass(1000)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await pass(1000)
    expect(await result).toEqual(createTextResult('done'))
    expect(of('tasks/update')).toHaveLength(0)
  })

  test('is answered in part if another client has answered the other part [TSK-034]', async () => {
    let answer = (): void => {}
    const slow = new Promise<ReturnType<typeof named>>((resolve) => {
      answer = () => resolve(named('Ada'))
    })
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': [createInputRequiredTask('one', 'two'), createInputRequiredTask('two'), completedTaskResult] },
      { client: { elicit: () => slow } },
    )
    const result = client.callTool('work')
    await pass(1000, 2)
    answer()
    await pass(1000)
    await result
    expect(of('tasks/update').map(({ params }) => params['inputResponses'])).toEqual([{ two: named('Ada') }])
  })

  test('rejects the call with the error of its handler, and the task is cancelled [PWF-005]', async () => {
    const refusal = new Error('the user refuses')
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': [createInputRequiredTask('one')] },
      {
        client: {
          elicit: () => {
            throw refusal
          },
        },
      },
    )
    const result = outcome(client.callTool('work'))
    await pass(1000)
    expect(await result).toEqual({ error: refusal })
    expect([of('tasks/update').length, of('tasks/cancel').length]).toEqual([0, 1])
  })

  test('is refused if its kind was not declared, as in the rounds of a call [TSK-029 TSK-070]', async () => {
    const { client, of, pass } = scriptedTasks({ 'tasks/get': [createInputRequiredTask('one')] })
    const result = outcome(client.callTool('work'))
    await pass(1000)
    expect(await result).toMatchObject({ error: { code: 'input_required', target: 'work' } })
    expect(of('tasks/update')).toHaveLength(0)
  })

  test('is not answered with another kind of response', async () => {
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': [createInputRequiredTask('one')] },
      { client: { elicit: () => ({ action: 'accept', content: { name: 5 } }) } },
    )
    const result = outcome(client.callTool('work'))
    await pass(1000)
    expect(await result).toMatchObject({ error: { code: 'invalid_answer' } })
    expect(of('tasks/update')).toHaveLength(0)
  })

  test('counts against the maximum of rounds of a call', async () => {
    const endless = Array.from({ length: 20 }, (_, index) => createInputRequiredTask(`key-${index}`))
    const { client, of, pass } = scriptedTasks({ 'tasks/get': endless }, { client: { elicit: () => named('x') } })
    const result = outcome(client.callTool('work', {}, { rounds: { maxRounds: 3 } }))
    await pass(1000, 10)
    expect(await result).toMatchObject({ error: { code: 'too_many_rounds' } })
    expect(of('tasks/update')).toHaveLength(3)
  })

  test('whose answer could not be sent is not asked again, and the answer is sent again', async () => {
    const down = { error: { code: -32603, message: 'Internal error' } }
    let asked = 0
    const { client, of, pass } = scriptedTasks(
      {
        'tasks/get': [
          createInputRequiredTask('one'),
          createInputRequiredTask('one'),
          createInputRequiredTask('one'),
          createInputRequiredTask('one'),
          completedTaskResult,
        ],
        'tasks/update': [down, down, acknowledgementResult],
      },
      {
        client: {
          elicit: () => {
            asked += 1
            return named('x')
          },
        },
      },
    )
    const result = client.callTool('work')
    await pass(1000, 5)
    expect(await result).toEqual(createTextResult('done'))
    expect([asked, of('tasks/update').length]).toEqual([1, 3])
  })

  test('is answered in rounds before the call becomes a task, with any keys', async () => {
    const before = { resultType: 'input_required', inputRequests: { one: createQuestion('before') }, requestState: 's' }
    const asked: string[] = []
    const { client, of, pass } = scriptedTasks(
      {
        'tools/call': [before, toCreateTaskResult()],
        'tasks/get': [createInputRequiredTask('one'), completedTaskResult],
      },
      {
        client: {
          elicit: ({ message }) => {
            asked.push(message)
            return named('x')
          },
        },
      },
    )
    const result = client.callTool('work')
    await pass(1000, 2)
    expect(await result).toEqual(createTextResult('done'))
    expect(asked).toEqual(['before', 'one'])
    expect(of('tools/call')[1]?.params).toMatchObject({ requestState: 's', inputResponses: { one: named('x') } })
  })
})

describe('A caller that only iterates over the states', () => {
  test('calls no handler, and its requests can be answered with the handle [TSK-034]', async () => {
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': [createInputRequiredTask('one', 'two')] },
      { client: { capabilities: { elicitation: {} } } },
    )
    const task = await beginTask(client)
    const states = task[Symbol.asyncIterator]()
    const first = states.next()
    await pass(1000)
    expect(await first).toMatchObject({ value: { status: 'input_required' } })
    await task.answer({ one: named('Ada') })
    expect(of('tasks/update').map(({ params }) => params)).toEqual([
      { taskId: 'task-1', inputResponses: { one: named('Ada') } },
    ])
    await expect(task.answer({ one: named('Eve') })).rejects.toMatchObject({ code: 'not_asked' })
    await expect(task.answer({ three: named('Eve') })).rejects.toMatchObject({ code: 'not_asked' })
    await expect(task.answer({})).rejects.toMatchObject({ code: 'not_asked' })
    expect(of('tasks/update')).toHaveLength(1)
    await states.return?.(undefined)
  })
})
