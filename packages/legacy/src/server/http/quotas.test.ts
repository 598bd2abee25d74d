import { randomBytes } from 'node:crypto'
import { callerKeyOf, clientAddressKey, createCall, withContext } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { createServer, resource, sealedState, type ServerDefinition, tool } from '@x/server'
import { httpHandler } from '@x/transport-http'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  allCapabilities,
  answerOf,
  createToolCall,
  greetTool,
  nameSchema,
  readServerRequest,
  textIn,
} from '../../testing/asking.ts'
import { createRpcRequest, createScriptedClient } from '../../testing/scripted-client.ts'
import { createLegacyServer } from '../../testing/serve-legacy.ts'
import { legacy } from '../legacy.ts'

const greedy = '192.0.2.66'
const honest = '192.0.2.1'
const ada: JsonObject = { action: 'accept', content: { name: 'Ada' } }
const callerKey = (address: string): string => callerKeyOf(withContext(createCall(), clientAddressKey, address))

const echoTool = tool('echo', {
  description: 'Has a text, and asks for a name',
  input: z.object({ text: z.string() }),
  run: async ({ text }, ctx) => {
    const answer = await ctx.elicitResult('name', { message: 'Name?', schema: nameSchema })
    return `${JSON.stringify(answer)} ${text.length}`
  },
})
const visit = tool('visit', {
  description: 'Asks for a visit that never ends',
  run: async (_, ctx) => {
    await ctx.elicitUrl('page', { message: 'Visit', url: 'https://pages.example/', isDone: () => false })
    return 'visited'
  },
})

function serve(definition: Partial<ServerDefinition> = {}) {
  const server = createLegacyServer({ tools: [greetTool, echoTool, visit], strictReplay: false, ...definition })
  const handler = httpHandler(server, { clientAddress: ({ header }) => header('x-caller') })
  const connect = async (caller: string) => {
    const client = createScriptedClient(handler, '2025-11-25', { 'x-caller': caller })
    await client.initialize({ capabilities: allCapabilities })
    return client
  }
  return { server, connect }
}

function quotaOf(limit: string, max: number) {
  return { code: -32603, data: { reason: 'quota', limit, max, retryAfterMs: expect.any(Number) } }
}

describe('a call that waits for an answer', () => {
  test('counts as one of its caller, in number and bytes, until it is answered [LDG-002 LDG-003 LDG-006]', async () => {
    const { server, connect } = serve({ limits: { waitingCalls: 2 } })
    const client = await connect(greedy)
    const streams = [
      await client.openStream(createToolCall('echo', { text: 'x'.repeat(1000) })),
      await client.openStream(createToolCall('greet')),
    ]
    const questions = await Promise.all(streams.map(readServerRequest))
    const key = callerKey(greedy)
    expect([server.ledger.usedBy('waiting_calls', key), server.ledger.usedBy('questions', key)]).toEqual([2, 2])
    expect(server.ledger.usedBy('bytes', key)).toBeGreaterThan(1000)
    const refused = await client.post(createToolCall('greet'))
    expect([refused.status, refused.headers.get('retry-after'), refused.json]).toMatchObject([
      429,
      '1',
      { error: quotaOf('waiting_calls', 2) },
    ])
    const other = await connect(honest)
    const events = await other.openStream(createToolCall('greet'))
    await other.post(answerOf((await readServerRequest(events)).id, ada))
    expect(textIn(await events.readMessage())).toContain('Ada')
    for (const [index, { id }] of questions.entries()) {
      await client.post(answerOf(id, ada))
      expect(textIn(await streams[index]?.readMessage())).toContain('Ada')
    }
    const used = (['waiting_calls', 'questions', 'bytes'] as const).map((kind) => server.ledger.usedInAll(kind))
    expect(used).toEqual([0, 0, 0])
  })

  test('counts until its caller cancels it [LDG-002]', async () => {
    const { server, connect } = serve()
    const client = await connect(greedy)
    const call = createToolCall('greet')
    await readServerRequest(await client.openStream(call))
    await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: call.id } })
    await expect.poll(() => server.ledger.usedInAll('waiting_calls')).toBe(0)
    expect([server.ledger.usedInAll('bytes'), server.ledger.usedInAll('questions')]).toEqual([0, 0])
  })

  test('is refused when its caller keeps as many bytes as it may, and its user has declined nothing [LDG-005]', async () => {
    const { connect } = serve({ limits: { bytes: 10_000 } })
    const client = await connect(greedy)
    await readServerRequest(await client.openStream(createToolCall('echo', { text: 'x'.repeat(8000) })))
    const refused = await client.post(createToolCall('echo', { text: 'x'.repeat(8000) }))
    expect([refused.status, refused.json]).toMatchObject([429, { error: quotaOf('bytes', 10_000) }])
  })

  test('of one caller leaves the questions of others alone, however many sessions it has [LDG-005 LDG-006]', async () => {
    const { server, connect } = serve()
    server.ledger.take('questions', callerKey(greedy), server.ledger.boundOf('questions').perCaller)
    const refused = await (await connect(greedy)).post(createToolCall('greet'))
    expect([refused.status, refused.json]).toMatchObject([429, { error: quotaOf('questions', 100) }])
    const other = await connect(honest)
    expect(await readServerRequest(await other.openStream(createToolCall('greet')))).toMatchObject({
      method: 'elicitation/create',
    })
  })

  test('for a page that its user visits counts as a call that runs [LDG-002]', async () => {
    const { server, connect } = serve({ limits: { calls: 3 } })
    const client = await connect(greedy)
    for (let index = 0; index < 2; index += 1) {
      const events = await client.openStream(createToolCall('visit'))
      await client.post(answerOf((await readServerRequest(events)).id, { action: 'accept' }))
    }
    await expect.poll(() => server.ledger.usedBy('calls', callerKey(greedy))).toBe(2)
    // For load shedding as well: between two runs no handler runs.
    await expect.poll(() => server.load.running).toBe(2)
  })
})

test('a session that cannot be remembered as ended is not ended, and no ended one is accepted again [LDG-001 LEG-045 LEG-047]', async () => {
  const server = createServer({
    name: 'quotas',
    version: '1.0.0',
    state: sealedState({ keys: [randomBytes(32)] }),
    resources: [resource('test://notes', { name: 'notes', read: () => 'Notes' })],
    extensions: [legacy()],
  })
  const handler = httpHandler(server, { clientAddress: ({ header }) => header('x-caller') })
  const connect = () => createScriptedClient(handler, '2025-11-25', { 'x-caller': greedy })
  const first = connect()
  await first.initialize()
  expect((await first.end()).status).toBe(204)
  server.ledger.take('ended_sessions', callerKey(greedy), server.ledger.boundOf('ended_sessions').perCaller - 1)
  const second = connect()
  await second.initialize()
  // A client of the official SDK accepts a 405, and throws for any other error.
  expect(await second.end()).toMatchObject({ status: 405 })
  expect((await first.post(createRpcRequest('ping'))).status).toBe(404)
  expect((await second.post(createRpcRequest('ping'))).status).toBe(200)
})

test('an ended session is not accepted again, however many others end [LEG-088]', async () => {
  const { connect } = serve()
  const ended = await connect(greedy)
  await ended.end()
  for (let index = 0; index < 50; index += 1) await (await connect(honest)).end()
  expect((await ended.post(createRpcRequest('ping'))).status).toBe(404)
})
