import { isJsonObject, type JsonObject, metaKeys, projectMetaKeys } from '@x/schema'
import { memoryStore } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { internalSettings } from '../internals.ts'
import { inputRequired, type ServerDefinition, tool } from '../index.ts'
import type { AskOptions } from '../testing/ask.ts'
import { resultOf } from '../testing/ask.ts'
import {
  accept,
  fullCapabilities,
  createStateRecorder,
  replayModes,
  completeCall,
  type Retry,
  type RunHandler,
  send,
  serve,
  type TestServer,
} from '../testing/rounds.ts'

const key = 'AAAAAAAAAAAAAAAAAAAAAA'
const other = 'AAAAAAAAAAAAAAAAAAAAAQ'
const question = { message: 'Whom?', schema: z.object({ to: z.string() }) }
const ada = { issuer: 'https://id.test', subject: 'ada' }
const alice = accept({ to: 'alice' })
const mallory = accept({ to: 'mallory' })

const keyed = (value: unknown = key, more: Partial<AskOptions> = {}): AskOptions => ({
  ...more,
  meta: { [metaKeys.clientCapabilities]: fullCapabilities, [projectMetaKeys.idempotencyKey]: value as string },
})

/** A handler that pays whom the client names, and notes under which keys it does. */
function paying(keys: string[] = []): RunHandler {
  return async (ctx) => {
    const { to } = await ctx.elicit('to', question)
    return ctx.step('pay', ({ idempotencyKey }) => {
      keys.push(idempotencyKey)
      return `receipt for ${to}`
    })
  }
}

/** A handler that says under which names it works. */
const names: RunHandler = async (ctx) => {
  const idempotencyKey = await ctx.step('one', (step) => step.idempotencyKey)
  return JSON.stringify([ctx.uuid('id'), idempotencyKey])
}

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  test('a call that is sent again has the same uuid and the same idempotency keys, at any instance', async () => {
    const [first, second] = [serve(names, mode), serve(names, mode)]
    const one = await send(first, {}, keyed())
    expect(one.text).toMatch(/^\["[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}"/)
    expect((await send(second, {}, keyed())).text).toBe(one.text)
  })

  const inSession = (sessionId: string): AskOptions => ({
    meta: { ...keyed().meta, 'io.modelcontextprotocol/session': { sessionId } },
  })

  const others: [string, () => Promise<unknown>][] = [
    ['a session', async () => (await send(serve(names, mode), {}, inSession('one'))).text],
    ['another key', async () => (await send(serve(names, mode), {}, keyed(other))).text],
    ['another principal', async () => (await send(serve(names, mode), {}, keyed(key, { principal: ada }))).text],
    ['no key', async () => (await send(serve(names, mode))).text],
    [
      'other arguments',
      async () => {
        const run = {
          description: 'Does',
          input: z.object({ n: z.number() }),
          run: (_: unknown, ctx: Parameters<RunHandler>[0]) => names(ctx),
        }
        const { server } = serve(names, { ...mode, tools: [tool('do', run as never)] })
        return (await resultOf(server, 'tools/call', { name: 'do', arguments: { n: 1 } }, keyed()))['content']
      },
    ],
  ]
  test.each(others)('a call with %s has others', async (_, name) => {
    const same = (await send(serve(names, mode), {}, keyed())).text
    expect(JSON.stringify(await name())).not.toContain(JSON.parse(String(same))[0])
  })

  test('a call of another session has another uuid and other keys, and one of the same session has the same', async () => {
    const textIn = async (sessionId: string) => (await send(serve(names, mode), {}, inSession(sessionId))).text
    const [one, again, two] = [await textIn('one'), await textIn('one'), await textIn('two')]
    expect(again).toBe(one)
    expect(JSON.stringify(two)).not.toContain(JSON.parse(String(one))[0])
  })

  test('keys differ for each step and uuid of a call', async () => {
    const run: RunHandler = async (ctx) => {
      const steps = await Promise.all(['a', 'b'].map((name) => ctx.step(name, (step) => step.idempotencyKey)))
      return JSON.stringify([...steps, ctx.uuid('a'), ctx.uuid('b')])
    }
    const { text } = await send(serve(run, mode), {}, keyed())
    expect(new Set(JSON.parse(String(text))).size).toBe(4)
  })

  test('one state that is sent with four different answers at once runs its step under four keys', async () => {
    const keys: string[] = []
    const served = serve(paying(keys), mode)
    const { state } = await send(served, {}, keyed())
    const answers = ['alice', 'mallory', 'bob', 'eve'].map((to) => accept({ to }))
    const rounds = await Promise.all(answers.map((to) => send(served, { state, responses: { to } }, keyed())))
    expect(rounds.map(({ text }) => text)).toEqual(['alice', 'mallory', 'bob', 'eve'].map((to) => `receipt for ${to}`))
    expect(new Set(keys).size).toBe(4)
  })

  test('that holds without a key of the client, and the same answers have the same keys', async () => {
    const keys: string[] = []
    const served = serve(paying(keys), mode)
    const { state } = await send(served)
    for (const to of [alice, mallory, alice, mallory]) await send(served, { state, responses: { to } })
    expect([keys[0] === keys[2], keys[1] === keys[3], keys[0] === keys[1]]).toEqual([true, true, false])
  })

  test('answers to an explicit round count in every round after it', async () => {
    const keys: string[] = []
    const ask = (name: string, state: JsonObject) => {
      const params = { message: name, requestedSchema: { type: 'object', properties: {} } } as const
      return inputRequired({ requests: { [name]: { method: 'elicitation/create', params } }, state })
    }
    const run: RunHandler = async (ctx) => {
      if (ctx.state === undefined) return ask('to', { at: 1 })
      if (ctx.responses.has('to')) return ask('sure', { at: 2 })
      return ctx.step('pay', ({ idempotencyKey }) => void keys.push(idempotencyKey)).then(() => 'paid')
    }
    const served = serve(run, mode)
    const first = await send(served)
    for (const to of [alice, mallory]) {
      const second = await send(served, { state: first.state, responses: { to } })
      await send(served, { state: second.state, responses: { sure: accept() } })
    }
    expect(new Set(keys).size).toBe(2)
  })

  test('the result of a step has no influence: a call that is sent again after it has the same keys', async () => {
    const keys: string[] = []
    let random = 0
    const run: RunHandler = async (ctx) => {
      await ctx.step('roll', () => ++random)
      await ctx.step('pay', ({ idempotencyKey }) => void keys.push(idempotencyKey))
      return 'done'
    }
    for (let count = 0; count < 2; count++) await send(serve(run, mode), {}, keyed())
    expect(new Set(keys).size).toBe(1)
  })
})

test.each([['short'], ['A'.repeat(23)], ['!'.repeat(22)], [7], [null], [{}], ['']])(
  'the key %j is rejected before the handler runs',
  async (value) => {
    let ran = 0
    const { error } = await send(
      serve(() => `${++ran}`),
      {},
      keyed(value),
    )
    expect([error?.code, ran]).toEqual([-32602, 0])
    expect(error?.message).toContain('22 characters of Base64url')
  },
)

test('a state of one call is not opened by the key of another', async () => {
  const { codec, sealed } = createStateRecorder()
  const served = serve(paying(), { state: codec, strictReplay: false })
  const { state } = await send(served, {}, keyed())
  await send(served, { state, responses: { to: { action: 'decline' } } }, keyed(other))
  const flows = sealed.map((text) => JSON.parse(text).flow)
  expect(new Set(flows).size).toBe(1)
})

describe('with a store', () => {
  const principal = ada
  /** A fleet of two whose tool counts how often it ran. */
  function fleet(
    settings: Partial<ServerDefinition> = {},
    run?: (count: number) => string,
  ): [TestServer, TestServer, () => number] {
    let ran = 0
    const handler: RunHandler = async (ctx) => {
      const { to } = await ctx.elicit('to', question)
      ran++
      return run?.(ran) ?? `${to} ${ran}`
    }
    const common = { strictReplay: false, idempotency: { store: memoryStore() }, ...settings }
    return [serve(handler, common), serve(handler, common), () => ran]
  }

  /** Asks and answers, then sends the answer again to the other instance. */
  async function twice([first, second]: readonly [TestServer, TestServer, unknown], options: AskOptions) {
    const { state } = await send(first, {}, options)
    const retry: Retry = { state, responses: { to: alice } }
    return [await send(first, retry, options), await send(second, retry, options)] as const
  }

  test('a completed result is answered again, at another instance, and the handler does not run', async () => {
    const instances = fleet()
    const [one, two] = await twice(instances, keyed(key, { principal }))
    expect([one.text, two.response, instances[2]()]).toEqual(['alice 1', one.response, 1])
  })

  test('other answers to the same state are another call', async () => {
    const [first, second] = fleet()
    const options = keyed(key, { principal })
    const { state } = await send(first, {}, options)
    const texts = []
    for (const to of [alice, mallory]) texts.push((await send(second, { state, responses: { to } }, options)).text)
    expect(texts).toEqual(['alice 1', 'mallory 2'])
  })

  test('another principal with the same key gets nothing of it', async () => {
    const run: RunHandler = () => 'secret'
    const store = memoryStore()
    let ran = 0
    const counting: RunHandler = (ctx) => `${run(ctx)} ${++ran}`
    const served = serve(counting, { strictReplay: false, idempotency: { store } })
    await send(served, {}, keyed(key, { principal: ada }))
    const { text } = await send(served, {}, keyed(key, { principal: { ...ada, subject: 'mallory' } }))
    expect([text, ran]).toEqual(['secret 2', 2])
  })

  test.each([
    ['without a principal', {}, key],
    ['without a key', { principal }, undefined],
  ])('a call %s is run again', async (_, more, value) => {
    const options = value === undefined ? { ...more } : keyed(value, more)
    const instances = fleet()
    await twice(instances, options)
    expect(instances[2]()).toBe(2)
  })

  test('of two that run at once the first result is the answer of both', async () => {
    const ends: ((text: string) => void)[] = []
    const run: RunHandler = () => new Promise<string>((resolve) => void ends.push(resolve))
    const served = serve(run, { strictReplay: false, idempotency: { store: memoryStore() } })
    const calls = [0, 1].map(() => send(served, {}, keyed(key, { principal })))
    await expect.poll(() => ends.length).toBe(2)
    ends[1]?.('second')
    await calls[1]
    ends[0]?.('first')
    expect((await Promise.all(calls)).map(({ text }) => text)).toEqual(['second', 'second'])
  })

  test.each(['add', 'get'] as const)('a store whose %s fails costs a call nothing, and is reported', async (name) => {
    const store = { ...memoryStore(), forOwner: undefined, [name]: () => Promise.reject(new Error('no connection')) }
    const served = serve(() => 'done', { strictReplay: false, idempotency: { store } })
    expect((await send(served, {}, keyed(key, { principal }))).text).toBe('done')
    expect(String(served.reported[0]?.error)).toContain('no connection')
  })

  test('a value that another program wrote into the store is not used as an answer', async () => {
    const store = { ...memoryStore(), get: async () => '{"broken' }
    const served = serve(() => 'done', { strictReplay: false, idempotency: { store } })
    expect((await send(served, {}, keyed(key, { principal }))).text).toBe('done')
  })

  test('a result that is too long is made again', async () => {
    const instances = fleet({
      idempotency: { store: memoryStore() },
      ...internalSettings({ maxStoredResultCharacters: 10 }),
    })
    await twice(instances, keyed(key, { principal }))
    expect(instances[2]()).toBe(2)
  })

  test('a protocol error is not kept, and a question is asked again', async () => {
    const served = serve(paying(), { strictReplay: false, idempotency: { store: memoryStore() } })
    const rounds = [
      await send(served, {}, keyed(key, { principal })),
      await send(served, {}, keyed(key, { principal })),
    ]
    expect(rounds.map(({ requests }) => Object.keys(requests))).toEqual([['to'], ['to']])
  })

  test('a call plays to its end as it does without', async () => {
    const [first, second] = fleet()
    expect((await completeCall([first, second], { to: alice }, keyed(key, { principal }))).text).toBe('alice 1')
  })
})

const tasksIdentifier = 'io.modelcontextprotocol/tasks'

test.each([
  ['says so', { keyedEffects: true }, true],
  ['always runs as a task', { task: 'required' as const }, true],
  ['always runs as a task and says that it is not', { task: 'required' as const, keyedEffects: false }, undefined],
  ['says nothing', {}, undefined],
])('a tool that %s is listed so', async (_, more, isMarked) => {
  const tools = [tool('do', { description: 'Does', run: () => 'x', ...more })]
  const { server } = serve(() => 'x', {
    tools,
    extensions: [{ extends: 'server', name: 'tasks', identifier: tasksIdentifier }],
  })
  const { tools: list } = await resultOf(server, 'tools/list')
  const [listed] = Array.isArray(list) ? list : []
  const meta = isJsonObject(listed) && isJsonObject(listed['_meta']) ? listed['_meta'] : {}
  expect(meta[projectMetaKeys.keyedEffects]).toBe(isMarked)
  const { capabilities } = await resultOf(server, 'server/discover')
  const declared = isJsonObject(capabilities) && isJsonObject(capabilities['extensions'])
  expect(declared).toBe(isMarked === true)
})
