import type { Client } from '@x/client'
import type { JsonObject } from '@x/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createInputRequiredTask,
  completedTaskResult,
  toCreateTaskResult,
  toGetTaskResult,
  unresolvedPromise,
  outcome,
  createQuestion,
  createTextResult,
  scriptedTasks,
  flushAsyncWork,
} from '../testing/scripted-tasks.ts'

const named = (name: string) => ({ action: 'accept', content: { name } }) as const

describe('A server that breaks the rules', () => {
  test('is accepted if it only changes the order of the members of a question', async () => {
    const { method, params } = createQuestion('one')
    const members = Object.entries(Object(params)).reverse()
    const turned = JSON.parse(JSON.stringify({ params: Object.fromEntries(members), method }))
    const { client, pass } = scriptedTasks(
      {
        'tasks/get': [
          createInputRequiredTask('one'),
          toGetTaskResult('input_required', { inputRequests: { one: turned } }),
          completedTaskResult,
        ],
      },
      { client: { elicit: () => named('x') } },
    )
    const result = client.callTool('work')
    await pass(1000, 3)
    expect(await result).toEqual(createTextResult('done'))
  })

  test.each([
    ['asks no question', toGetTaskResult('input_required', { inputRequests: {} })],
    ['never ends', toGetTaskResult('working', { ttlMs: -1 })],
  ])('and %s makes the call fail after the time limit, and the task is cancelled', async (_title, last) => {
    const { client, clock, of, pass } = scriptedTasks({ 'tasks/get': [last] }, { tasks: { maxTaskMs: 10_000 } })
    const result = outcome(client.callTool('work'))
    await pass(1000, 10)
    expect(await result).toMatchObject({ error: { code: 'timeout', tool: 'work' } })
    await flushAsyncWork()
    expect(of('tasks/cancel')).toHaveLength(1)
    expect(clock.waiting).toBe(0)
  })

  test('may use keys with the names of members of every object', async () => {
    const requests = JSON.parse('{"__proto__": null, "constructor": null}')
    const inputRequests = Object.fromEntries(Object.keys(requests).map((key) => [key, createQuestion(key)]))
    const { client, of, pass } = scriptedTasks(
      { 'tasks/get': [toGetTaskResult('input_required', { inputRequests }), completedTaskResult] },
      { client: { elicit: ({ message }) => named(message) } },
    )
    const result = client.callTool('work')
    await pass(1000, 2)
    await result
    expect(JSON.stringify(of('tasks/update')[0]?.params['inputResponses'])).toBe(
      JSON.stringify(Object.fromEntries(Object.keys(requests).map((key) => [key, named(key)]))),
    )
  })

  test('and rejects answers permanently makes the call fail', async () => {
    const { client, pass } = scriptedTasks(
      {
        'tasks/get': [createInputRequiredTask('one')],
        'tasks/update': [{ error: { code: -32602, message: 'not like that' } }],
      },
      { client: { elicit: () => named('x') } },
    )
    const result = outcome(client.callTool('work'))
    await pass(1000)
    expect(await result).toMatchObject({ error: { code: 'rpc', method: 'tasks/update', rpc: { code: -32602 } } })
  })

  test('and never acknowledges answers does not prevent the cancellation of the call', async () => {
    const { client, clock, pass } = scriptedTasks(
      { 'tasks/get': [createInputRequiredTask('one')], 'tasks/update': [unresolvedPromise] },
      { client: { elicit: () => named('x') } },
    )
    const controller = new AbortController()
    const result = outcome(client.callTool('work', {}, { signal: controller.signal }))
    await pass(1000)
    controller.abort('enough')
    expect(await result).toEqual({ error: 'enough' })
    await flushAsyncWork()
    expect(clock.waiting).toBe(0)
  })

  test.each<[string, JsonObject]>([
    ['has no id', toCreateTaskResult({ taskId: '' })],
    ['has an id that is too long', toCreateTaskResult({ taskId: 'x'.repeat(1025) })],
    ['has an id that no header can contain', toCreateTaskResult({ taskId: '\uD800' })],
    ['has no times', { resultType: 'task', taskId: 'x', status: 'working', ttlMs: null }],
    ['has an unknown status', toCreateTaskResult({ status: 'dreaming' })],
    ['has a lifetime of half a millisecond', toCreateTaskResult({ ttlMs: 0.5 })],
  ])('and creates a task that %s makes the call fail with invalid_result', async (_title, answer) => {
    const { client, received } = scriptedTasks({ 'tools/call': [answer] })
    await expect(client.callTool('work')).rejects.toMatchObject({ code: 'invalid_result', target: 'work' })
    expect(received).toHaveLength(1)
  })

  test.each<[string, JsonObject]>([
    ['is another task', toGetTaskResult('working', { taskId: 'task-2' })],
    ['is not a complete result', { ...toGetTaskResult('working'), resultType: 'task' }],
    ['is completed without a result', toGetTaskResult('completed')],
    ['is failed without an error', toGetTaskResult('failed')],
    [
      'has a request that no client can answer',
      toGetTaskResult('input_required', { inputRequests: { one: { method: 'tools/call' } } }),
    ],
    ['has an invalid result', toGetTaskResult('completed', { result: { content: 5 } })],
    [
      'has a result with a question',
      toGetTaskResult('completed', { result: { resultType: 'input_required', requestState: 'x' } }),
    ],
    ['has a result that is a task', toGetTaskResult('completed', { result: toCreateTaskResult() })],
  ])('and returns a task that %s makes the call fail with invalid_result', async (_title, answer) => {
    const { client, clock, pass } = scriptedTasks({ 'tasks/get': [answer] })
    const result = outcome(client.callTool('work'))
    await pass(1000)
    expect(await result).toMatchObject({ error: { code: 'invalid_result', method: 'tools/call', target: 'work' } })
    expect(clock.waiting).toBe(0)
  })

  test.each<[string, (client: Client) => Promise<unknown>]>([
    ['a prompt', (client) => client.getPrompt('p')],
    ['a resource', (client) => client.readResource('a:b')],
    ['a list', (client) => client.listTools()],
    [
      'a call without handling of rounds, which does not declare the extension',
      (client) => client.manualRounds.callTool('work'),
    ],
  ])('and returns a task for %s makes the request fail with invalid_result [TSK-003]', async (_title, ask) => {
    const methods = ['prompts/get', 'resources/read', 'tools/list', 'tools/call']
    const { client, received } = scriptedTasks(
      Object.fromEntries(methods.map((method) => [method, [toCreateTaskResult()]])),
    )
    await expect(ask(client)).rejects.toMatchObject({ code: 'invalid_result' })
    expect(received).toHaveLength(1)
  })

  test('and returns a task for the list that a call needs makes the call fail with invalid_result [TSK-003]', async () => {
    const { client, of } = scriptedTasks(
      { 'tools/list': [toCreateTaskResult()], 'tools/call': [createTextResult('x')] },
      { client: { outputSchemaCompiler: () => () => [] } },
    )
    await expect(client.callTool('work')).rejects.toMatchObject({ code: 'invalid_result', method: 'tools/list' })
    expect(of('tasks/get')).toHaveLength(0)
  })

  test.each<[string, JsonObject]>([
    ['the headers were wrong', { code: -32020, message: 'HeaderMismatch' }],
    ['the state was rejected', { code: -32602, message: 'Invalid or expired requestState' }],
    ['the version is unsupported', { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } }],
  ])('and lets a task fail with the error that %s does not cause a repetition of the call', async (_title, error) => {
    const { client, of, pass } = scriptedTasks({ 'tasks/get': [toGetTaskResult('failed', { error })] })
    const result = outcome(client.callTool('work', {}, { rounds: { restart: true } }))
    await pass(1000)
    expect(await result).toMatchObject({ error: { code: 'rpc', rpc: error } })
    expect(of('tools/call')).toHaveLength(1)
  })

  test('for any answers, the call ends with a result, a ClientError or a TaskError, and leaves no timer or listener', async () => {
    const states = fc.array(fc.oneof(shapes(), fc.jsonValue().map(objectOf)), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(states, async (answers) => {
        const { client, clock, pass } = scriptedTasks(
          { 'tasks/get': answers },
          { client: { elicit: () => named('x') }, tasks: { maxTaskMs: 20_000, polling: { maxMs: 2000 } } },
        )
        const result = outcome(client.callTool('work'))
        await pass(1000, 25)
        const ended = await result
        if ('error' in ended) expect(['ClientError', 'TaskError']).toContain(Object(ended.error).name)
        else expect(ended.content).toBeInstanceOf(Array)
        expect(clock.waiting).toBe(0)
      }),
      { numRuns: 60 },
    )
  })
})

function shapes(): fc.Arbitrary<JsonObject> {
  const status = fc.constantFrom('working', 'input_required', 'completed', 'failed', 'cancelled', 'odd')
  const more = fc.record(
    {
      ttlMs: fc.option(fc.integer()),
      pollIntervalMs: fc.integer(),
      statusMessage: fc.string(),
      result: fc.constantFrom<JsonObject>(createTextResult('done'), {}, { content: 5 }),
      error: fc.constantFrom<JsonObject>({ code: -32603, message: 'no' }, {}),
      inputRequests: fc.dictionary(fc.string(), fc.constantFrom(createQuestion('a'), createQuestion('b'), {})),
    },
    { requiredKeys: [] },
  )
  return fc.tuple(status, more).map(([name, members]) => toGetTaskResult(name, members as JsonObject))
}

function objectOf(value: unknown): JsonObject {
  return { resultType: 'complete', value: JSON.parse(JSON.stringify(value)) }
}
