import { isJsonObject, type JsonObject } from '@x/schema'
import { tool } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  answerOf,
  readServerRequest,
  createToolCall,
  connectScriptedClient,
  greetTool,
  nameSchema,
  textIn,
} from '../../testing/asking.ts'

test('a handler that asks twice is answered on the stream of its call, and takes each step once [LEG-031 LEG-089]', async () => {
  let steps = 0
  const pair = tool('pair', {
    description: 'Asks for two names',
    run: async (_, ctx) => {
      const first = await ctx.elicit('first', { message: 'The first?', schema: nameSchema })
      await ctx.step('work', () => {
        steps += 1
      })
      const second = await ctx.elicit('second', { message: 'The second?', schema: nameSchema })
      return `${first.name} and ${second.name}`
    },
  })
  const client = await connectScriptedClient({ tools: [pair] })
  const request = createToolCall('pair')
  const events = await client.openStream(request)
  expect(events.headers.get('content-type')).toBe('text/event-stream')
  const first = await readServerRequest(events)
  expect(first).toMatchObject({ method: 'elicitation/create', params: { message: 'The first?' } })
  expect(first['params']).toHaveProperty('mode', 'form')
  const accepted = await client.post(answerOf(first.id, { action: 'accept', content: { name: 'Ada' } }))
  expect([accepted.status, accepted.json]).toEqual([202, undefined])
  const second = await readServerRequest(events)
  await client.post(answerOf(second.id, { action: 'accept', content: { name: 'Grace' } }))
  const response = await events.readMessage()
  expect([response?.['id'], textIn(response)]).toEqual([request.id, 'Ada and Grace'])
  expect(await events.readMessage()).toBeUndefined()
  expect(steps).toBe(1)
  expect(first.id).not.toBe(second.id)
})

test('questions of one round are asked at once, each answered under its own id [LEG-022 LEG-079]', async () => {
  const both = tool('both', {
    description: 'Asks user, model and client',
    run: async (_, ctx) => {
      const [{ name }, said, roots] = await Promise.all([
        ctx.elicit('name', { message: 'Name?', schema: nameSchema }),
        ctx.sample('model', {
          messages: [{ role: 'user', content: { type: 'text', text: 'Capital?' } }],
          maxTokens: 10,
        }),
        ctx.roots('roots'),
      ])
      return JSON.stringify([name, said.content, roots.length])
    },
  })
  const client = await connectScriptedClient({ tools: [both] })
  const events = await client.openStream(createToolCall('both'))
  const questions = [await readServerRequest(events), await readServerRequest(events), await readServerRequest(events)]
  const answers = new Map<string, JsonObject>([
    ['elicitation/create', { action: 'accept', content: { name: 'Ada' } }],
    ['sampling/createMessage', { role: 'assistant', content: { type: 'text', text: 'Rome' }, model: 'm' }],
    ['roots/list', { roots: [{ uri: 'file:///home' }] }],
  ])
  for (const { id, method } of questions.toReversed()) await client.post(answerOf(id, answers.get(method) ?? {}))
  expect(textIn(await events.readMessage())).toBe(JSON.stringify(['Ada', { type: 'text', text: 'Rome' }, 1]))
})

test('a client that declared no elicitation is not asked, and the result names what it lacks [LEG-014 LEG-067]', async () => {
  const client = await connectScriptedClient({ tools: [greetTool], capabilities: {} })
  const { json } = await client.post(createToolCall('greet'))
  expect(json).toMatchObject({ result: { isError: true } })
  expect(JSON.stringify(json)).toContain('elicitation')
})

test('an error in the place of an answer means that the user cancelled', async () => {
  const client = await connectScriptedClient({ tools: [greetTool] })
  const events = await client.openStream(createToolCall('greet'))
  const { id } = await readServerRequest(events)
  await client.post({ jsonrpc: '2.0', id, error: { code: -32603, message: 'no window' } })
  expect(textIn(await events.readMessage())).toBe('{"action":"cancel"}')
})

test('a model that refuses ends the call with an error that says so', async () => {
  const sample = tool('sample', {
    description: 'Asks the model',
    run: async (_, ctx) => {
      const messages = [{ role: 'user', content: { type: 'text', text: 'Hi' } }] as const
      return (await ctx.sample('model', { messages, maxTokens: 1 })).model
    },
  })
  const client = await connectScriptedClient({ tools: [sample] })
  const events = await client.openStream(createToolCall('sample'))
  const { id } = await readServerRequest(events)
  await client.post({ jsonrpc: '2.0', id, error: { code: -1, message: 'User rejected sampling' } })
  const response = await events.readMessage()
  expect(response).toMatchObject({ result: { isError: true } })
  expect(textIn(response)).toContain('User rejected sampling')
})

test('an answer that is malformed is the error of its call', async () => {
  const client = await connectScriptedClient({ tools: [greetTool] })
  const events = await client.openStream(createToolCall('greet'))
  const { id } = await readServerRequest(events)
  await client.post(answerOf(id, { action: 'explode' }))
  expect(await events.readMessage()).toMatchObject({ error: { code: -32602 } })
})

test('a URL carries an id, is asked for once while the server waits, and is completed [LEG-068 LEG-069]', async () => {
  let looks = 0
  const pay = tool('pay', {
    description: 'Sends the user to a page',
    run: async (_, ctx) => {
      const done = (): boolean => {
        looks += 1
        return looks > 1
      }
      await ctx.elicitUrl('page', { message: 'Pay here', url: 'https://pay.example/17', isDone: done })
      return 'paid'
    },
  })
  const client = await connectScriptedClient({ tools: [pay] })
  const events = await client.openStream(createToolCall('pay'))
  const { id, params } = await readServerRequest(events)
  expect(params).toMatchObject({ mode: 'url', url: 'https://pay.example/17', elicitationId: expect.any(String) })
  const { elicitationId } = isJsonObject(params) ? params : {}
  await client.post(answerOf(id, { action: 'accept' }))
  expect(await events.readMessage()).toMatchObject({
    method: 'notifications/elicitation/complete',
    params: { elicitationId },
  })
  expect(textIn(await events.readMessage())).toBe('paid')
  expect(looks).toBe(2)
})

test('progress continues to grow over the rounds of a call, under its own token [LEG-055]', async () => {
  const steps = tool('steps', {
    description: 'Reports progress around a question',
    run: async (_, ctx) => {
      ctx.progress(1)
      ctx.progress(2)
      await ctx.elicit('name', { message: 'Name?', schema: nameSchema })
      ctx.progress(3)
      return 'done'
    },
  })
  const client = await connectScriptedClient({ tools: [steps] })
  const events = await client.openStream(createToolCall('steps', {}, { progressToken: 'p1' }))
  const seen: unknown[] = []
  for (let message = await events.readMessage(); message !== undefined; message = await events.readMessage()) {
    const { params } = message
    if (message['method'] === 'notifications/progress') seen.push(params)
    if (message['method'] !== 'elicitation/create' || typeof message['id'] !== 'string') continue
    await client.post(answerOf(message['id'], { action: 'accept', content: { name: 'Ada' } }))
  }
  expect(seen).toEqual([1, 2, 3].map((progress) => ({ progressToken: 'p1', progress })))
})

test('log messages are those at the level that was set, or from info up [LEG-058 LEG-059 LEG-060]', async () => {
  const logs = tool('logs', {
    description: 'Logs at two levels',
    run: (_, ctx) => {
      ctx.log('info', 'for information')
      ctx.log('error', 'a failure')
      return 'logged'
    },
  })
  const client = await connectScriptedClient({ tools: [logs] })
  const levels = async (): Promise<unknown[]> => {
    const events = await client.openStream(createToolCall('logs'))
    const seen: unknown[] = []
    for (let message = await events.readMessage(); message !== undefined; message = await events.readMessage()) {
      if (message['method'] === 'notifications/message' && isJsonObject(message['params']))
        seen.push(message['params']['level'])
    }
    return seen
  }
  expect(await levels()).toEqual(['info', 'error'])
  expect(await client.request('logging/setLevel', { level: 'error' })).toMatchObject({ result: {} })
  expect(await levels()).toEqual(['error'])
  expect(await client.request('logging/setLevel', { level: 'loud' })).toMatchObject({ error: { code: -32602 } })
})

test('a form of 2025-06-18 has enumNames and no defaults but of booleans, and several values cannot be asked [LEG-096]', async () => {
  const choices = z.object({
    colour: z.union([z.literal('r').meta({ title: 'Red' }), z.literal('g').meta({ title: 'Green' })]).default('r'),
    sure: z.boolean().default(true),
    size: z.number().default(3),
  })
  const plain = tool('plain', {
    description: 'Asks for one choice',
    run: async (_, ctx) => JSON.stringify(await ctx.elicitResult('choice', { message: 'Choose', schema: choices })),
  })
  const many = tool('many', {
    description: 'Asks for several values',
    run: async (_, ctx) =>
      JSON.stringify(
        await ctx.elicitResult('choice', { message: 'Choose', schema: z.object({ all: z.array(z.enum(['a', 'b'])) }) }),
      ),
  })
  const client = await connectScriptedClient({
    tools: [plain, many],
    capabilities: { elicitation: {} },
    revision: '2025-06-18',
  })
  const events = await client.openStream(createToolCall('plain'))
  const { params } = await readServerRequest(events)
  const { requestedSchema } = isJsonObject(params) ? params : {}
  const { properties } = isJsonObject(requestedSchema) ? requestedSchema : {}
  expect(properties).toMatchObject({
    colour: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
    sure: { default: true },
  })
  expect(JSON.stringify(properties)).not.toMatch(/oneOf|"default":(3|"r")/)
  await events.leave()
  const { json } = await client.post(createToolCall('many'))
  expect(json).toMatchObject({ result: { isError: true } })
})
