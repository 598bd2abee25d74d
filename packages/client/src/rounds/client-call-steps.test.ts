import { callHeadersKey } from '@x/exchange'
import { type JsonObject, metaKeys } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { unknownTypeResultOf } from '../request/client-error.ts'
import type { ClientExtension, ClientExtensionHost } from '../extensions/client-extension.ts'
import { createClient } from '../create-client.ts'
import {
  createMinimalTool,
  hostInfo,
  pendingPromise,
  createTextResult,
  createScriptedExchange,
  createToolsPage,
} from '../testing/scripted-exchange.ts'

/** Shows what an extension has of its client. */
const exposing: ClientExtension<'parts', ClientExtensionHost> = {
  extends: 'client',
  name: 'parts',
  identifier: 'com.example/parts',
  start: (parts) => ({ api: parts }),
}

const form = {
  method: 'elicitation/create',
  params: { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
}
const accept = () => ({ action: 'accept', content: { name: 'Ada' } }) as const

describe('What a call declares for itself', () => {
  test('is sent with its own requests only, in addition to the capabilities of the client', async () => {
    const exchange = createScriptedExchange(() => createTextResult('hi'))
    const client = createClient(exchange, {
      ...hostInfo,
      capabilities: { extensions: { 'a.b/one': {} }, experimental: { old: {} } },
    })
    await client.callTool('greet', {}, { capabilities: { extensions: { 'a.b/two': {} } }, elicit: accept })
    await client.callTool('greet')
    expect(exchange.received.map(({ meta }) => meta[metaKeys.clientCapabilities])).toEqual([
      {
        extensions: { 'a.b/one': {}, 'a.b/two': {} },
        experimental: { old: {} },
        elicitation: { form: {} },
      },
      { extensions: { 'a.b/one': {} }, experimental: { old: {} } },
    ])
  })
})

describe('A call of an extension', () => {
  test.each([
    ['as it is', 'task-1', 'task-1'],
    ['encoded where a header cannot carry it', 'für', '=?base64?ZsO8cg==?='],
  ])('repeats in a header what it is about, %s', async (_title, taskId, header) => {
    const exchange = createScriptedExchange(() => ({ ok: true }))
    await createClient(exchange, hostInfo).request('tasks/get', { taskId }, { targetParam: 'taskId' })
    expect(exchange.received[0]?.call.context.get(callHeadersKey)?.get('Mcp-Name')).toBe(header)
  })

  test('has no such header without a name, and fails before it is sent with one that no header can carry', async () => {
    const exchange = createScriptedExchange(() => ({ error: { code: -32603, message: 'no' } }))
    const client = createClient(exchange, hostInfo)
    const named = { targetParam: 'taskId' }
    await expect(client.request('tasks/get', { taskId: 5 }, named)).rejects.toMatchObject({ code: 'rpc' })
    await expect(client.request('tasks/get', { taskId: 'x' }, named)).rejects.toMatchObject({ target: 'x' })
    await expect(client.request('tasks/get', { taskId: '\uD800' }, named)).rejects.toMatchObject({
      code: 'invalid_arguments',
    })
    expect(exchange.received.map(({ call }) => call.context.get(callHeadersKey)?.get('Mcp-Name'))).toEqual([
      undefined,
      'x',
    ])
  })

  test('takes the notifications of a response that lasts', async () => {
    const exchange = createScriptedExchange(({ call }) => {
      call.notify({ jsonrpc: '2.0', method: 'a/b', params: { n: 1 } })
      return pendingPromise
    })
    const received: unknown[] = []
    const client = createClient(exchange, hostInfo)
    void client.request('a/listen', {}, { onNotification: (message, id) => received.push([message.params, id]) > 0 })
    await Promise.resolve()
    expect(received).toEqual([[{ n: 1 }, exchange.received[0]?.request.id]])
  })
})

describe('A result of a type that the client does not know', () => {
  test('is available to extensions, and not part of the error', async () => {
    const result = { resultType: 'task', taskId: 'a secret' }
    const error: unknown = await createClient(
      createScriptedExchange(() => result),
      hostInfo,
    )
      .callTool('greet')
      .catch((failure: unknown) => failure)
    expect(error).toMatchObject({ code: 'invalid_result', method: 'tools/call' })
    expect(unknownTypeResultOf(error)).toEqual(result)
    expect(JSON.stringify([error, String(error)])).not.toContain('a secret')
  })

  test('is undefined for any other failure', async () => {
    const client = createClient(
      createScriptedExchange(() => ({ resultType: 'complete', content: 5 })),
      hostInfo,
    )
    const error: unknown = await client.callTool('greet').catch((failure: unknown) => failure)
    expect([unknownTypeResultOf(error), unknownTypeResultOf(new Error('x')), unknownTypeResultOf(5)]).toEqual(
      Array(3).fill(undefined),
    )
  })
})

describe('Input that is asked another way', () => {
  const client = createClient(
    createScriptedExchange(() => createTextResult('hi')),
    { ...hostInfo, extensions: [exposing], elicit: accept },
  )
  const asked = { name: 'greet', inputRequests: { who: form }, round: 1 }

  test('is given by the handlers, those of the call before those of the client', async () => {
    expect(await client.parts.answerInput(asked)).toEqual({ who: accept() })
    expect(await client.parts.answerInput(asked, { elicit: () => ({ action: 'decline' }) })).toEqual({
      who: { action: 'decline' },
    })
  })

  test.each<[string, JsonObject, number, string]>([
    ['was not declared', { who: { method: 'roots/list' } }, 1, 'input_required'],
    ['is no request', { who: { method: 'tools/call' } }, 1, 'invalid_result'],
    ['is nothing', {}, 1, 'invalid_result'],
    ['comes once more than the limit', { who: form }, 11, 'too_many_rounds'],
  ])('is refused when it %s', async (_title, inputRequests, round, code) => {
    await expect(client.parts.answerInput({ name: 'greet', inputRequests, round })).rejects.toMatchObject({
      code,
      target: 'greet',
    })
  })
})

describe('Answers that are at hand', () => {
  const client = createClient(
    createScriptedExchange(() => createTextResult('hi')),
    { ...hostInfo, extensions: [exposing], capabilities: { elicitation: {} } },
  )
  const asked = { name: 'greet', inputRequests: { who: form }, round: 1 }

  test('are checked against the requests, and returned as they are sent', () => {
    const answer = { action: 'decline', content: { name: 'half filled in' } } as const
    expect(client.parts.checkAnswers(asked, { who: answer })).toEqual({ who: { action: 'decline' } })
  })

  test.each([
    ['to something else', { what: accept() }],
    ['for a part', {}],
    ['that do not fit', { who: { action: 'accept', content: { name: 5 } } } as never],
  ])('are refused %s', (_title, answers) => {
    expect(() => client.parts.checkAnswers(asked, answers)).toThrow(expect.objectContaining({ code: 'invalid_answer' }))
  })
})

describe('A result that came another way', () => {
  const outputSchema = { type: 'object', properties: { n: { type: 'number' } } }
  const client = createClient(
    createScriptedExchange(() => createToolsPage([createMinimalTool('count', { outputSchema })])),
    { ...hostInfo, extensions: [exposing], outputSchemaCompiler: () => () => [{ path: '/n', message: 'no number' }] },
  )

  test('is given with its type, also where older servers leave that out', async () => {
    const { content } = createTextResult('hi')
    expect(await client.parts.checkToolResult('greet', { content })).toEqual(createTextResult('hi'))
  })

  test.each<[string, JsonObject, string]>([
    ['has no content', { resultType: 'complete' }, 'invalid_result'],
    ['asks', { resultType: 'input_required', requestState: 'x' }, 'invalid_result'],
    ['is a task', { resultType: 'task' }, 'invalid_result'],
    ['does not match the output schema', { content: [], structuredContent: { n: 'x' } }, 'invalid_output'],
  ])('is refused when it %s', async (_title, result, code) => {
    await expect(client.parts.checkToolResult('count', result)).rejects.toMatchObject({ code, target: 'count' })
  })
})
