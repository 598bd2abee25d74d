import { createClient } from '@x/client'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import { describe, expect, test } from 'vitest'
import {
  createAcceptAnswer,
  createElicitRequest,
  connectScriptedServer as connect,
  sendToolResult,
  hostInfo,
} from '../../testing/scripted-calls.ts'
import { type ReceivedRequest, createReply, createScriptedServer } from '../../testing/scripted-server.ts'
import { connectAny } from '../connect-node.ts'

const form = { type: 'object', properties: { name: { type: 'string', default: 'Ada' } } }

describe('a question on the stream of a call', () => {
  test('is answered by the handler of the call, without a mode too [LEG-070 LEG-066]', async () => {
    const asked: unknown[] = []
    const { server, client, nextCall } = connect({
      elicit: (question, { key, target, server: who }) => {
        asked.push(question.message, target, typeof key, who)
        return createAcceptAnswer()
      },
    })
    const result = client.callTool('greet')
    const call = await nextCall()
    call.stream.send(createElicitRequest('q-1'))
    expect(await server.nextAnswer()).toEqual({
      jsonrpc: '2.0',
      id: 'q-1',
      result: { action: 'accept', content: { name: 'Grace' } },
    })
    sendToolResult(call)
    expect(await result).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] })
    expect(asked).toEqual(['Name?', 'greet', 'string', expect.stringContaining('scripted 1.0.0')])
  })

  test('gets the defaults of fields that are left out [LEG-074]', async () => {
    const { server, client, nextCall } = connect({ elicit: () => ({ action: 'accept', content: {} }) })
    const result = client.callTool('greet')
    const call = await nextCall()
    call.stream.send(createElicitRequest(1))
    expect(await server.nextAnswer()).toMatchObject({ id: 1, result: { content: { name: 'Ada' } } })
    sendToolResult(call)
    await result
  })

  test.each<[string, JsonValue]>([
    ['a string', 'eyJhbGciOiJkaXIi.x'],
    ['an empty string', ''],
    ['null', null],
    ['an object', { b: [1, { a: null }], a: 'ä' }],
    ['a megabyte', 'x'.repeat(1_000_000)],
  ])(
    'brings back its state, %s, exactly as it came, and none where there was none [STA-002 STA-003 STA-004 LEG-100]',
    async (_, state) => {
      const { server, client, nextCall } = connect({ elicit: createAcceptAnswer })
      const result = client.callTool('greet')
      const call = await nextCall()
      call.stream.send(createElicitRequest(1, { state }))
      const answered = await server.nextAnswer()
      expect([answered['state'], answered['result'] !== undefined]).toEqual([state, true])
      call.stream.send({ jsonrpc: '2.0', id: 2, method: 'nonsense', state })
      const refused = await server.nextAnswer()
      expect([refused['state'], refused['error'] !== undefined]).toEqual([state, true])
      call.stream.send(createElicitRequest(3))
      expect('state' in (await server.nextAnswer())).toBe(false)
      sendToolResult(call)
      await result
    },
  )

  test.each<[string, string, JsonObject, number]>([
    ['a URL', 'elicitation/create', { mode: 'url', message: 'x', url: 'https://x.test', elicitationId: '1' }, -32602],
    ['a mode that does not exist', 'elicitation/create', { mode: 'voice', message: 'x' }, -32602],
    ['a form without a schema', 'elicitation/create', { message: 'x' }, -32602],
    ['sampling', 'sampling/createMessage', { messages: [], maxTokens: 1 }, -32601],
    ['roots', 'roots/list', {}, -32601],
    ['a method of no client', 'tools/call', { name: 'x' }, -32601],
  ])('for %s, which was not declared, is refused at once [LEG-073 LEG-014]', async (_, method, params, code) => {
    const { server, client, nextCall } = connect({ elicit: createAcceptAnswer })
    const result = client.callTool('greet')
    const call = await nextCall()
    call.stream.send({ jsonrpc: '2.0', id: 7, method, params })
    expect(await server.nextAnswer()).toMatchObject({ id: 7, error: { code } })
    sendToolResult(call)
    await result
  })

  test('for a model or roots is checked and answered as any [LEG-077 LEG-078]', async () => {
    const { server, client, nextCall } = connect({
      sample: () => ({ role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' }),
      roots: () => [{ uri: 'file:///work' }],
    })
    const result = client.callTool('greet')
    const call = await nextCall()
    const message = { role: 'user', content: { type: 'text', text: 'hello' } }
    call.stream.send({
      jsonrpc: '2.0',
      id: 1,
      method: 'sampling/createMessage',
      params: { messages: [message], maxTokens: 5 },
    })
    expect(await server.nextAnswer()).toMatchObject({ id: 1, result: { model: 'm' } })
    call.stream.send({ jsonrpc: '2.0', id: 2, method: 'roots/list' })
    expect(await server.nextAnswer()).toMatchObject({ id: 2, result: { roots: [{ uri: 'file:///work' }] } })
    call.stream.send({
      jsonrpc: '2.0',
      id: 3,
      method: 'sampling/createMessage',
      params: { messages: 'x', maxTokens: 5 },
    })
    expect(await server.nextAnswer()).toMatchObject({ id: 3, error: { code: -32602 } })
    sendToolResult(call)
    await result
  })

  test('comes with others as one round, and each gets its own answer', async () => {
    const rounds: number[] = []
    const { server, client, nextCall } = connect({
      elicit: ({ message }, { round }) => {
        rounds.push(round)
        return { action: 'accept', content: { name: message } }
      },
    })
    const result = client.callTool('greet')
    const call = await nextCall()
    for (const id of ['a', 'b'])
      call.stream.send(createElicitRequest(id, { params: { message: id, requestedSchema: form } }))
    const answers = [await server.nextAnswer(), await server.nextAnswer()].map(({ id, result: given }) => [id, given])
    expect(answers.toSorted()).toEqual([
      ['a', { action: 'accept', content: { name: 'a' } }],
      ['b', { action: 'accept', content: { name: 'b' } }],
    ])
    sendToolResult(call)
    await result
    expect(rounds).toEqual([1, 1])
  })

  test('that asks without end is cancelled, and the server is notified', async () => {
    const { server, client, nextCall } = connect({ elicit: createAcceptAnswer }, { answerTimeoutMs: 20 })
    const result = client.callTool('greet', {}, { rounds: { maxRounds: 3 } }).catch((error: unknown) => error)
    const call = await nextCall()
    for (let id = 0; id < 4; id += 1) {
      call.stream.send(createElicitRequest(id))
      await server.nextAnswer()
    }
    expect(await result).toMatchObject({ code: 'too_many_rounds' })
    await expect.poll(() => server.methods()).toContain('notifications/cancelled')
  })

  test('of a call that ends at once is neither shown nor answered', async () => {
    const { server, client, nextCall } = connect({ elicit: createAcceptAnswer })
    const result = client.callTool('greet')
    const call = await nextCall()
    call.stream.send(createElicitRequest(1))
    sendToolResult(call)
    expect(await result).toMatchObject({ content: [{ text: 'done' }] })
    expect(server.arrived.filter(({ message }) => 'result' in message || 'error' in message)).toEqual([])
  })
})

test('progress and logs reach their own call, with its token, at its level', async () => {
  const { server, client, nextCall } = connect()
  const steps: number[] = []
  const logs: unknown[] = []
  const how = {
    onProgress: ({ progress }: { progress: number }) => steps.push(progress),
    onLog: ({ data }: { data: unknown }) => logs.push(data),
  }
  const result = client.callTool('greet', {}, { ...how, logLevel: 'warning' })
  const call = await nextCall()
  const meta = isJsonObject(call.arrivedRequest.message['params'])
    ? call.arrivedRequest.message['params']['_meta']
    : undefined
  expect(meta).toEqual({ progressToken: call.id })
  const progress = (progressToken: JsonValue, step: number): JsonObject => ({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken, progress: step },
  })
  call.stream.send(progress(call.id, 1))
  call.stream.send(progress('other', 2))
  for (const level of ['info', 'warning', 'error', 'shout']) {
    call.stream.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level, data: level } })
  }
  sendToolResult(call)
  await result
  expect([steps, logs]).toEqual([[1], ['warning', 'error']])
  const levels = server.arrived.filter(({ message }) => message['method'] === 'logging/setLevel')
  expect(levels.map(({ message }) => message['params'])).toEqual([{ level: 'warning' }])
})

test('the latest progress that arrives during a question reaches the call after the answer, before later progress', async () => {
  const steps: number[] = []
  let answer = (): void => {}
  let isAsked = false
  const { server, client, nextCall } = connect({
    elicit: () => {
      isAsked = true
      return new Promise((resolve) => {
        answer = () => resolve(createAcceptAnswer())
      })
    },
  })
  const result = client.callTool('greet', {}, { onProgress: ({ progress }) => steps.push(progress) })
  const call = await nextCall()
  const sendProgress = (progress: number): void => {
    const params = { progressToken: call.id, progress }
    call.stream.send({ jsonrpc: '2.0', method: 'notifications/progress', params })
  }
  call.stream.send(createElicitRequest('q-1'))
  await expect.poll(() => isAsked).toBe(true)
  sendProgress(1)
  sendProgress(2)
  // The answer shows that the client has read the messages before it.
  call.stream.send({ jsonrpc: '2.0', id: 'ping', method: 'ping' })
  expect(await server.nextAnswer()).toMatchObject({ id: 'ping' })
  answer()
  expect(await server.nextAnswer()).toMatchObject({ id: 'q-1' })
  sendProgress(3)
  sendToolResult(call)
  await result
  expect(steps).toEqual([2, 3])
})

test('a cancelled call is cancelled at the server, and rejects with the reason [LEG-015 LEG-033 LEG-053]', async () => {
  const { server, client, nextCall } = connect()
  const controller = new AbortController()
  const result = client.callTool('greet', {}, { signal: controller.signal })
  const call = await nextCall()
  controller.abort('enough')
  await expect(result).rejects.toBe('enough')
  await expect.poll(() => server.methods()).toContain('notifications/cancelled')
  expect(server.arrived.at(-1)?.message['params']).toEqual({ requestId: call.id, reason: 'enough' })
})

test('a handshake is not cancelled with the call that began it [LEG-051]', async () => {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const handle = (one: ReceivedRequest): Promise<Response> | undefined =>
    one.message['method'] === 'initialize'
      ? held.then(() => createReply(one, { protocolVersion: '2025-11-25', capabilities: { tools: {} } }))
      : undefined
  const server = createScriptedServer({ handle })
  const connection = connectAny('https://server.test/mcp', { revision: 'older', http: { fetch: server.fetch } })
  const client = createClient(connection.exchange, hostInfo)
  await expect(client.callTool('greet', {}, { signal: AbortSignal.timeout(10) })).rejects.toThrow('timeout')
  release()
  await client.callTool('greet')
  expect(server.methods()).toEqual(['initialize', 'notifications/initialized', 'tools/call'])
})

test('both forms of answer are read, and no id is used twice [LEG-025 LEG-079]', async () => {
  const { server, client, nextCall } = connect()
  await client.listTools()
  for (let index = 0; index < 3; index += 1) {
    const result = client.callTool('greet')
    sendToolResult(await nextCall())
    await result
  }
  const ids = server.arrived.map(({ message }) => message['id']).filter((id) => id !== undefined)
  expect(new Set(ids).size).toBe(ids.length)
})

test('a batch of 2025-03-26 is read as its messages', async () => {
  const { client, nextCall } = connect({}, {}, { revision: '2025-03-26' })
  const steps: number[] = []
  const result = client.callTool('greet', {}, { onProgress: ({ progress }) => steps.push(progress) })
  const { stream, id } = await nextCall()
  const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id, progress: 1 } }
  stream.send([progress, { jsonrpc: '2.0', id, result: { content: [] } }])
  stream.close()
  expect(await result).toMatchObject({ content: [] })
  expect(steps).toEqual([1])
})
