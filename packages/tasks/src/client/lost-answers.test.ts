import { describe, expect, test } from 'vitest'
import {
  beginTask,
  completedTaskResult,
  createInputRequiredTask,
  createQuestion,
  createTextResult,
  scriptedTasks,
  toGetTaskResult,
} from '../testing/scripted-tasks.ts'

const named = (name: string) => ({ action: 'accept', content: { name } }) as const

describe('A server whose store has lost an answer', () => {
  const working = toGetTaskResult('working')
  const [one, otherOne] = [createInputRequiredTask('one'), createQuestion('another text')]
  const changed = toGetTaskResult('input_required', { inputRequests: { one: otherOne } })

  test.each([
    ['after a state without the question', [one, working, one, completedTaskResult], ['one'], ['one', 'one']],
    ['in each state', [one, one, one, one, completedTaskResult], ['one'], ['one', 'one']],
    ['twice', [one, working, one, working, one, completedTaskResult], ['one'], ['one', 'one', 'one']],
    [
      'with another text, which is asked',
      [one, changed, completedTaskResult],
      ['one', 'another text'],
      ['one', 'another text'],
    ],
  ])('and lists its question again %s receives it again [ROB-011 ROB-012]', async (_title, states, asked, sent) => {
    const messages: string[] = []
    const elicit = ({ message }: { readonly message: string }) => {
      messages.push(message)
      return named(message)
    }
    const { client, of, pass } = scriptedTasks({ 'tasks/get': states }, { client: { elicit } })
    const result = client.callTool('work')
    await pass(1000, states.length)
    expect(await result).toEqual(createTextResult('done'))
    expect(messages).toEqual(asked)
    expect(of('tasks/update').map(({ params }) => params['inputResponses'])).toEqual(
      sent.map((name) => ({ one: named(name) })),
    )
  })

  test('and changes an open question withdraws the first text, whose late answer is not sent', async () => {
    const signals: AbortSignal[] = []
    let answerFirst = (_: ReturnType<typeof named>): void => {}
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': [one, changed, completedTaskResult] },
      {
        client: {
          elicit: ({ message }, { signal }) => {
            signals.push(signal)
            return message === 'one' ? new Promise((resolve) => (answerFirst = resolve)) : named(message)
          },
        },
      },
    )
    const result = client.callTool('work')
    await pass(1000, 2)
    answerFirst(named('late'))
    await pass(1000)
    expect(await result).toEqual(createTextResult('done'))
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    expect(of('tasks/update').map(({ params }) => params['inputResponses'])).toEqual([{ one: named('another text') }])
  })

  test('makes a process ask again that resumed the task with the key alone, and a handle accept an answer [ROB-011]', async () => {
    const asked: string[] = []
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': [one, working, one, one, one, one, completedTaskResult] },
      {
        client: {
          elicit: ({ message }) => {
            asked.push(message)
            return named('again')
          },
        },
      },
    )
    const task = await beginTask(client)
    await task.answer({ one: named('Ada') })
    const resumed = client.tasks.resume(task.serialize())
    expect(await task.status()).toMatchObject({ status: 'working' })
    await task.answer({ one: named('Ada again') })
    const result = resumed.result()
    await pass(1000, 4)
    expect(await result).toEqual(createTextResult('done'))
    expect(asked).toEqual(['one'])
    expect(of('tasks/update')).toHaveLength(3)
  })
})
