import { createGate } from '@tooling/vitest/gate'
import type { LogRecord } from '@x/core'
import type { JsonObject } from '@x/schema'
import { tool } from '@x/server'
import { httpHandler } from '@x/transport-http'
import { expect, test } from 'vitest'
import {
  answerOf,
  readServerRequest,
  createToolCall,
  connectScriptedClient,
  allCapabilities,
  greetTool,
  nameSchema,
  textIn,
} from '../../testing/asking.ts'
import { createRpcRequest, createScriptedClient } from '../../testing/scripted-client.ts'
import { createLegacyServer } from '../../testing/serve-legacy.ts'

test('a question without an answer in time is cancelled at the client, and the call ends [LEG-016]', async () => {
  const client = await connectScriptedClient({ tools: [greetTool], options: { answerTimeoutMs: 30 } })
  const events = await client.openStream(createToolCall('greet'))
  const { id } = await readServerRequest(events)
  expect(await events.readMessage()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } })
  expect(textIn(await events.readMessage())).toBe('{"action":"cancel"}')
})

test('a cancelled call is not answered, its question is cancelled, and its handler stops with the reason of the client [LEG-052]', async () => {
  const started = createGate()
  let stopped: unknown
  const works = tool('works', {
    description: 'Works until it is stopped',
    run: (_, ctx) =>
      new Promise<string>((resolve) => {
        ctx.signal.addEventListener('abort', () => {
          stopped = ctx.signal.reason
          resolve('stopped')
        })
        started.open()
      }),
  })
  const client = await connectScriptedClient({ tools: [greetTool, works] })
  const asking = createToolCall('greet')
  const events = await client.openStream(asking)
  const { id } = await readServerRequest(events)
  await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: asking.id } })
  expect(await events.readMessage()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } })
  expect(await events.readMessage()).toBeUndefined()
  const working = createToolCall('works')
  const response = client.post(working)
  await started.opened
  const params = { requestId: working.id, reason: 'The user left' }
  await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  expect((await response).json).toBeUndefined()
  expect(stopped).toMatchObject({ message: 'The user left' })
})

test('a warning about a message to a client of an older revision is in the log of the server', async () => {
  const records: LogRecord[] = []
  const cuts = tool('cuts', { description: 'Cuts a character', run: () => 'half of \ud83d' })
  const log = (record: LogRecord): void => void records.push(record)
  const client = createScriptedClient(httpHandler(createLegacyServer({ tools: [cuts], log })))
  await client.initialize({ capabilities: {} })
  await client.post(createToolCall('cuts'))
  expect(records).toMatchObject([{ level: 'warn', code: 'lone_surrogate' }])
})

test('a cancellation that comes too late changes nothing [LEG-053]', async () => {
  const client = await connectScriptedClient({ tools: [greetTool], capabilities: {} })
  const request = createToolCall('greet')
  await client.post(request)
  const late = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: request.id } }
  expect((await client.post(late)).status).toBe(202)
})

test('an answer to nothing, a second one, and one of another session are rejected [LEG-023 LEG-075 LEG-090]', async () => {
  const server = createLegacyServer({ tools: [greetTool], strictReplay: false })
  const handler = httpHandler(server)
  const [client, thief] = [createScriptedClient(handler), createScriptedClient(handler)]
  await client.initialize({ capabilities: allCapabilities })
  await thief.initialize({ capabilities: allCapabilities })
  const events = await client.openStream(createToolCall('greet'))
  const { id } = await readServerRequest(events)
  const stolen = answerOf(id, { action: 'accept', content: { name: 'Mallory' } })
  expect((await thief.post(stolen)).status).toBe(400)
  expect((await client.post(answerOf('unknown', {}))).status).toBe(400)
  expect((await client.post(answerOf(id, { action: 'decline' }))).status).toBe(202)
  expect((await client.post(answerOf(id, { action: 'decline' }))).status).toBe(400)
  expect(textIn(await events.readMessage())).toBe('{"action":"decline"}')
})

test('a call that never stops asking comes to an end', async () => {
  const nagging = tool('nagging', {
    description: 'Asks for ever',
    run: async (_, ctx) => {
      for (let round = 0; ; round += 1)
        await ctx.elicitResult(`round-${round}`, { message: 'Again?', schema: nameSchema })
    },
  })
  const client = await connectScriptedClient({ tools: [nagging], options: {} })
  const events = await client.openStream(createToolCall('nagging'))
  let questions = 0
  let last: JsonObject | undefined
  for (let message = await events.readMessage(); message !== undefined; message = await events.readMessage()) {
    last = message
    if (typeof message['id'] !== 'string') continue
    questions += 1
    await client.post(answerOf(message['id'], { action: 'decline' }))
  }
  expect([questions, textIn(last)]).toEqual([51, expect.stringContaining('asked its client too often')])
})

test('a batch of a thousand, an empty one, and one of a later revision are rejected [LEG-021 LEG-097]', async () => {
  const handler = httpHandler(createLegacyServer({ tools: [greetTool] }))
  const connect = (revision: string) => createScriptedClient(handler, revision)
  const client = connect('2025-03-26')
  await client.initialize()
  const thousand = Array.from({ length: 1000 }, () => createRpcRequest('ping'))
  expect((await client.post(thousand)).status).toBe(400)
  expect((await client.post([])).status).toBe(400)
  const newer = connect('2025-06-18')
  await newer.initialize()
  expect((await newer.post([createRpcRequest('ping')])).status).toBe(400)
})
