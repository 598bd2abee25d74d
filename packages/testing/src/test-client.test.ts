import { createServer, form, inputRequired, prompt, resource, type ServerDefinition, tool } from '@x/server'
import type { ClientExtension } from '@x/client'
import type { ServerExtension } from '@x/exchange'
import { expect, expectTypeOf, test, vi } from 'vitest'
import { z } from 'zod'
import { isTestingError, type ServerKit, testClient, testRuntime } from './index.ts'

const name = form(z.object({ name: z.string(), formal: z.boolean() }))
const day = form(z.object({ day: z.enum(['monday', 'friday']) }))

const greet = tool('greet', {
  description: 'Greets',
  async run(_, ctx) {
    const who = await ctx.elicit('name', { message: 'Who are you?', schema: name })
    const when = await ctx.elicitResult('day', { message: 'When?', schema: day })
    return `${who.name} ${when.content?.day ?? when.action}`
  },
})

const definition: ServerDefinition = { name: 'demo', version: '1', tools: [greet] }
const make = (kit: ServerKit) => createServer({ ...definition, ...kit })
const answers = { name: { name: 'Ada', formal: true }, day: { day: 'friday' } }

const textOf = ({ content }: { readonly content: readonly unknown[] }) => content[0]

test('a call is answered by key, with values, functions and other actions of a user', async () => {
  await using client = testClient(make, {
    answers: {
      ...answers,
      day: ({ key, message, times, round }) =>
        key === 'day' && message === 'When?' && times + round === 3 ? 'decline' : 'cancel',
    },
  })
  expect(textOf(await client.callTool('greet'))).toEqual({ type: 'text', text: 'Ada decline' })
})

test('the rounds of a call are plain data', async () => {
  await using client = testClient(make, { answers, restartBetweenRounds: true })
  await client.callTool('greet')
  const round = { method: 'tools/call', target: 'greet' }
  expect(client.observations.rounds).toEqual([
    { ...round, instance: 0, status: 'input_required', questions: { name: 'Who are you?' } },
    { ...round, instance: 1, status: 'input_required', questions: { day: 'When?' } },
    { ...round, instance: 2, status: 'complete', questions: {} },
  ])
  expect(client.instances).toHaveLength(3)
})

test('a question without an answer fails the call, and says what to write', async () => {
  await using client = testClient(make, { answers: { day: 'cancel' } })
  const error = await client.callTool('greet').catch((reason: unknown) => reason)
  expect(isTestingError(error) && error.code).toBe('unanswered')
  expect(String(error)).toContain(
    'The server asks "name" ("Who are you?"), and the test has no answer: ' +
      "write answers: { name: { name: '…', formal: true } }, or 'decline', or 'cancel'",
  )
  expect(client.listUnusedAnswers()).toEqual(['day'])
})

test('an answer that the server does not accept fails the call, unless a function gives another one', async () => {
  const positive = form(z.object({ count: z.number().refine((count) => count > 1, 'more than one') }))
  const ask = tool('ask', {
    description: 'Asks',
    run: async (_, ctx) => String((await ctx.elicit('count', { message: 'How many?', schema: positive })).count),
  })
  const askOnly = (kit: ServerKit) => createServer({ ...definition, tools: [ask], ...kit })
  await using stubborn = testClient(askOnly, { answers: { count: { count: 1 } } })
  await expect(stubborn.callTool('ask')).rejects.toMatchObject({
    code: 'asked_again',
    message: expect.stringContaining('more than one'),
  })
  await using flexible = testClient(askOnly, { answers: { count: ({ times }) => ({ count: times }) } })
  expect(textOf(await flexible.callTool('ask'))).toEqual({ type: 'text', text: '2' })
  expect(flexible.observations.questions).toEqual([
    { key: 'count', message: 'How many?', times: 1 },
    { key: 'count', message: expect.stringContaining('more than one'), times: 2 },
  ])
})

test('sampling, roots and URLs are answered as well, in prompts and resources', async () => {
  const root = { uri: 'file:///project' }
  const reply = { role: 'assistant', model: 'test', content: { type: 'text', text: 'yes' } } as const
  const ask = prompt('ask', {
    async run(_, ctx) {
      await ctx.elicitUrl('page', { message: 'Open it', url: 'https://example.com/' })
      const { content } = await ctx.sample('model', { messages: [], maxTokens: 1 })
      return JSON.stringify([content, await ctx.roots('roots')])
    },
  })
  const explicit = resource('do://it', {
    name: 'It',
    read: (ctx) =>
      ctx.responses.has('roots') ? 'done' : inputRequired({ requests: { roots: { method: 'roots/list' } }, state: 1 }),
  })
  const server = createServer({
    name: 'demo',
    version: '1',
    prompts: [ask],
    resources: [explicit],
    log: () => {},
  })
  await using client = testClient(server, { answers: { page: 'accept', model: reply, roots: [root] } })
  const { messages } = await client.getPrompt('ask')
  expect(messages[0]?.content).toEqual({ type: 'text', text: JSON.stringify([reply.content, [root]]) })
  expect((await client.readResource('do://it')).contents[0]).toMatchObject({ text: 'done' })
  expectTypeOf(client.instances[0]).toEqualTypeOf<typeof server | undefined>()
})

test('capabilities that are given are the only ones', async () => {
  await using client = testClient(make, { answers, capabilities: {} })
  await expect(client.callTool('greet')).rejects.toMatchObject({ code: 'rpc', rpc: { code: -32021 } })
  expect(client.observations.rounds).toMatchObject([{ status: 'error', error: { code: -32021 } }])
})

test('the principal reaches the handler, and a state belongs to it', async () => {
  const who = tool('who', { description: 'Tells', run: (_, ctx) => ctx.principal?.subject ?? 'nobody' })
  const server = createServer({ name: 'demo', version: '1', tools: [who] })
  await using client = testClient(server, { principal: { subject: 'ada' } })
  expect(textOf(await client.callTool('who'))).toEqual({ type: 'text', text: 'ada' })
})

test('progress and logs are observed, of every level', async () => {
  const work = tool('work', {
    description: 'Works',
    run(_, ctx) {
      ctx.progress(1, 2, 'half')
      ctx.log('debug', { at: 1 }, 'worker')
      return 'done'
    },
  })
  await using client = testClient((kit) => createServer({ ...definition, tools: [work], ...kit, strictReplay: false }))
  await client.callTool('work')
  const { progress, logs } = client.observations
  expect(progress).toEqual([{ target: 'work', progress: 1, total: 2, message: 'half' }])
  expect(logs).toEqual([{ target: 'work', level: 'debug', logger: 'worker', data: { at: 1 } }])
})

test('changes of lists and resources are observed by subscriptions', async () => {
  await using client = testClient((kit) =>
    createServer({ ...definition, resources: [resource('do://it', { name: 'It', read: () => 'it' })], ...kit }),
  )
  await using subscription = client.listen({ toolsListChanged: true, resourceSubscriptions: ['do://it'] })
  const events = subscription[Symbol.asyncIterator]()
  await events.next()
  client.instances[0]?.update({ tools: [] })
  await client.instances[0]?.notifyResourceUpdated('do://it')
  expect(await client.waitForChanges(2)).toEqual([
    { change: 'tools/list_changed' },
    { change: 'resources/updated', uri: 'do://it' },
  ])
})

test('the states of tasks are observed, of whichever extension', async () => {
  let asked = 0
  const tasks: ServerExtension = {
    extends: 'server',
    name: 'jobs',
    identifier: 'com.example/jobs',
    capabilities: {},
    start: () => ({
      methods: {
        'com.example/get': () => {
          asked += 1
          return { taskId: 't1', status: asked < 3 ? 'working' : 'completed' }
        },
      },
    }),
  }
  await using client = testClient(createServer({ name: 'demo', version: '1', extensions: [tasks] }))
  for (let times = 0; times < 4; times++) await client.request('com.example/get')
  expect(client.observations.tasks).toEqual([
    { taskId: 't1', status: 'working' },
    { taskId: 't1', status: 'completed' },
  ])
})

test('extensions of the client have their members, with their types', async () => {
  const counter: ClientExtension<'counter', { count(): number }> = {
    extends: 'client',
    name: 'counter',
    identifier: 'com.example/counter',
    start: () => {
      let calls = 0
      return {
        api: { count: () => calls },
        middleware: (next) => (request, call) => {
          calls += 1
          return next(request, call)
        },
      }
    },
  }
  await using client = testClient(make, { extensions: [counter] })
  await client.listTools()
  expect(client.counter.count()).toBe(1)
})

test('a handler that is not repeatable fails its call', async () => {
  let runs = 0
  const moody = tool('moody', {
    description: 'Differs',
    async run(_, ctx) {
      runs += 1
      await ctx.step(`step-${runs}`, () => 1)
      return 'done'
    },
  })
  const moodyOnly = (kit: ServerKit) => createServer({ ...definition, tools: [moody], ...kit })
  await using client = testClient(moodyOnly)
  await expect(client.callTool('moody')).rejects.toMatchObject({ name: 'TestingError', code: 'not_repeatable' })
  await using lenient = testClient(moodyOnly, { strictReplay: false })
  expect(textOf(await lenient.callTool('moody'))).toEqual({ type: 'text', text: 'done' })
})

test('a handler that is not repeatable fails no other call', async () => {
  let runs = 0
  let endOther = (): void => {}
  const otherEnds = new Promise<void>((resolve) => {
    endOther = resolve
  })
  const moody = tool('moody', {
    description: 'Differs',
    async run(_, ctx) {
      runs += 1
      await ctx.step(`step-${runs}`, () => 1)
      return 'done'
    },
  })
  const steady = tool('steady', {
    description: 'Ends after the other',
    run: () => otherEnds.then(() => 'steady'),
  })
  await using client = testClient((kit) => createServer({ ...definition, tools: [moody, steady], ...kit }))
  const call = client.callTool('steady')
  await expect(client.callTool('moody')).rejects.toMatchObject({ code: 'not_repeatable' })
  endOther()
  expect(textOf(await call)).toEqual({ type: 'text', text: 'steady' })
})

test('errors that a client does not see whole are observed', async () => {
  const broken = resource('do://it', {
    name: 'It',
    read: () => {
      throw new Error('the disk is full')
    },
  })
  await using client = testClient((kit) => createServer({ ...definition, resources: [broken], ...kit }))
  await expect(client.readResource('do://it')).rejects.toMatchObject({ rpc: { message: 'Internal error' } })
  expect(client.observations.errors).toMatchObject([{ name: 'do://it', error: { message: 'the disk is full' } }])
})

test('errors of a handler that the test has not read are written when the client closes', async () => {
  const write = vi.spyOn(console, 'error').mockReturnValue(undefined)
  const broken = tool('broken', {
    description: 'Is broken',
    run: () => {
      throw new TypeError('a mistake')
    },
  })
  for (const reads of [false, true]) {
    await using client = testClient((kit) => createServer({ ...definition, tools: [broken], ...kit }))
    await client.callTool('broken')
    if (reads) expect(client.observations.errors).toHaveLength(1)
    expect(write).not.toHaveBeenCalled()
    await client.close()
    const line = /^@x\/testing: tools\/call "broken": TypeError: a mistake .*test-client\.test/
    expect(write.mock.calls).toEqual(reads ? [] : [[expect.stringMatching(line)]])
    write.mockClear()
  }
})

test('messages travel as JSON', async () => {
  const loose = tool('loose', {
    description: 'Is loose',
    run: () => ({ content: [{ type: 'text' as const, text: 'a' }], _meta: { when: undefined } }),
  })
  await using client = testClient(createServer({ name: 'demo', version: '1', tools: [loose] }))
  expect(Object.keys((await client.callTool('loose'))._meta ?? {})).not.toContain('when')
})

test('time does not pass until the test moves it: a state expires with it', async () => {
  const runtime = testRuntime({ now: 1000 })
  await using client = testClient(make, { runtime, answers: { ...answers, name: 'decline' } })
  const first = await client.manualRounds.callTool('greet')
  if (first.status !== 'input_required') throw new Error('It asks')
  await runtime.advance(59 * 60_000)
  const second = await first.resume({ name: { action: 'accept', content: answers.name } })
  if (second.status !== 'input_required') throw new Error('It asks again')
  await runtime.advance(60 * 60_000 + 60_000)
  await expect(second.resume({ day: { action: 'cancel' } })).rejects.toMatchObject({ rpc: { code: -32602 } })
})

test('a call times out when the time is moved', async () => {
  const runtime = testRuntime()
  const slow = tool('slow', {
    description: 'Ends when it is cancelled',
    run: (_, ctx) =>
      new Promise<string>((resolve) => ctx.signal.addEventListener('abort', () => resolve('late'), { once: true })),
  })
  const slowOnly = (kit: ServerKit) => createServer({ ...definition, tools: [slow], ...kit })
  await using client = testClient(slowOnly, { runtime, timeoutMs: 5000 })
  const call = client.callTool('slow').catch((error: unknown) => error)
  await runtime.advance(4999)
  expect(runtime.waitingTimerCount).toBe(1)
  await runtime.advance(1)
  expect(await call).toMatchObject({ code: 'timeout' })
})
