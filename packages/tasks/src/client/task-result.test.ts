import { createGate } from '@tooling/vitest/gate'
import { errorCodes, type JsonObject, projectMetaKeys } from '@x/schema'
import { describe, expect, test } from 'vitest'
import {
  acknowledgementResult,
  beginTask,
  completedTaskResult,
  createInputRequiredTask,
  createTextResult,
  scriptedTasks,
  toGetTaskResult,
} from '../testing/scripted-tasks.ts'

describe('answers without a type', () => {
  test('are complete, like results of earlier revisions', async () => {
    const { resultType: _, ...asked } = createInputRequiredTask('one')
    const { resultType: _type, ...done } = completedTaskResult
    const elicit = () => ({ action: 'accept', content: { name: 'Ada' } }) as const
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': [asked, done], 'tasks/update': [{}] },
      { client: { elicit } },
    )
    const result = client.callTool('work')
    await pass(1000, 2)
    expect(await result).toEqual(createTextResult('done'))
    expect(of('tasks/update')).toHaveLength(1)
  })
})

describe('progress', () => {
  const stateAt = (progress: number, statusMessage: string, status = 'working') =>
    toGetTaskResult(status, {
      statusMessage,
      _meta: { [projectMetaKeys.progress]: { progress, total: 3 } },
      ...(status === 'completed' && { result: createTextResult('done') }),
    })

  test('has the numbers and the text of one state, and the last report precedes the result', async () => {
    const reported: unknown[] = []
    const states = [stateAt(2, 'Two'), stateAt(1, 'One again'), stateAt(3, 'Three', 'completed')]
    const { client, pass } = scriptedTasks({ 'tasks/get': states })
    const result = client.callTool('work', {}, { onProgress: (progress) => reported.push(progress) })
    await pass(1000, 3)
    await result
    expect(reported).toEqual([
      { progress: 2, total: 3, message: 'Two' },
      { progress: 3, total: 3, message: 'Three' },
    ])
  })
})

test('a call that became a task may have run, although the last request about the task has not', async () => {
  const { client, pass } = scriptedTasks({
    'tasks/get': [{ error: { code: errorCodes.invalidRequest, message: 'No' } }],
  })
  const failure = client.callTool('work').catch((error: unknown) => error)
  await pass(1000)
  expect(await failure).toMatchObject({ code: 'rpc', mayHaveRun: true })
})

describe('a call whose signal aborts', () => {
  test.each([
    ['when the server has acknowledged the cancellation', 0, true],
    ['after a second if the server does not acknowledge the cancellation', 1000, false],
  ])('rejects %s, as its program may close the connection next', async (_title, ms, isAcknowledged) => {
    const acknowledgement = createGate<JsonObject>()
    const { client, pass } = scriptedTasks({ 'tasks/cancel': [acknowledgement.opened] })
    const controller = new AbortController()
    let hasRejected = false
    const call = client.callTool('work', {}, { signal: controller.signal }).catch(() => (hasRejected = true))
    await pass(1000)
    controller.abort('enough')
    await pass(999)
    expect(hasRejected).toBe(false)
    if (isAcknowledged) acknowledgement.open(acknowledgementResult)
    await pass(ms)
    expect(hasRejected).toBe(true)
    await call
  })
})

test('a task of another address is refused with the names of both, and the option for two addresses of one server', async () => {
  const { client } = scriptedTasks({})
  const task = await beginTask(client)
  const resume = () => client.tasks.resume({ ...task.serialize(), target: 'https://other.example/mcp' })
  expect(resume).toThrow(/"https:\/\/other\.example\/mcp", and not of "https:\/\/example\.com\/mcp"; .*`target`/)
})
