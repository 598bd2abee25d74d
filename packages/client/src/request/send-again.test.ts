import { type JsonObject, projectMetaKeys } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { createClient } from '../create-client.ts'
import { createInputRequired, nameFormRequest } from '../testing/asking.ts'
import {
  createMinimalTool,
  hostInfo,
  createTextResult,
  type ScriptedExchange,
  createScriptedExchange,
  createToolsPage,
} from '../testing/scripted-exchange.ts'
import { createSkippingClock, transportError } from '../testing/lost-answers.ts'

const lost = transportError('HttpError', { code: 'closed', origin: 'https://x.test' })
const keyOf = ({ received }: ScriptedExchange, index: number): unknown =>
  received[index]?.meta[projectMetaKeys.idempotencyKey]

const quick = { ...hostInfo, runtime: createSkippingClock() }

/** Loses the first answers to every method but lists, then says `done`. */
function losing(count: number, error: Error = lost, tools: readonly JsonObject[] = []): ScriptedExchange {
  let left = count
  return createScriptedExchange(({ request }) => {
    if (request.method === 'tools/list') return createToolsPage(tools)
    if (left-- > 0) throw error
    return { ...createTextResult('done'), messages: [], contents: [], ttlMs: 0, cacheScope: 'private' }
  })
}

describe('a request whose answer was lost', () => {
  const tools = [
    createMinimalTool('look', { annotations: { readOnlyHint: true } }),
    createMinimalTool('put', { annotations: { idempotentHint: true } }),
    createMinimalTool('keyed', { _meta: { [projectMetaKeys.keyedEffects]: true } }),
    createMinimalTool('odd', { _meta: { [projectMetaKeys.keyedEffects]: 'yes' } }),
    createMinimalTool('pay'),
  ]

  test.each([
    ['look', 2],
    ['put', 2],
    ['keyed', 2],
    ['odd', 1],
    ['pay', 1],
    ['unlisted', 1],
  ])('of the tool %s is sent %i times', async (name, times) => {
    const exchange = losing(1, lost, tools)
    const client = createClient(exchange, quick)
    await client.listTools()
    const call = client.callTool(name)
    if (times === 2) expect(await call).toMatchObject(createTextResult('done'))
    else await expect(call).rejects.toMatchObject({ code: 'transport', cause: lost })
    expect(exchange.received).toHaveLength(1 + times)
    expect(keyOf(exchange, 1)).toMatch(/^[\w-]{22}$/)
    if (times === 2) {
      expect(keyOf(exchange, 2)).toBe(keyOf(exchange, 1))
      expect(exchange.received[2]?.request.id).not.toBe(exchange.received[1]?.request.id)
    }
  })

  const reading: [string, (client: ReturnType<typeof createClient>) => Promise<unknown>][] = [
    ['a prompt', (client) => client.getPrompt('p')],
    ['a resource', (client) => client.readResource('a:b')],
    ['an extension, where it says so', (client) => client.request('com.example/get', {}, { repeatable: true })],
  ]
  test.each(reading)('is sent again for %s', async (_, call) => {
    const exchange = losing(2)
    await call(createClient(exchange, quick))
    expect(exchange.received).toHaveLength(3)
  })

  test('is not sent again for the method of an extension that does not say so', async () => {
    const exchange = losing(1)
    await expect(createClient(exchange, quick).request('com.example/do')).rejects.toMatchObject({ code: 'transport' })
    expect(exchange.received).toHaveLength(1)
  })

  test.each<[string, object, boolean]>([
    ['HttpError', { code: 'closed' }, true],
    ['HttpError', { code: 'connect' }, true],
    ['HttpError', { code: 'refused' }, true],
    ['HttpError', { code: 'status', status: 502 }, true],
    ['HttpError', { code: 'status', status: 401 }, false],
    ['HttpError', { code: 'protocol' }, false],
    ['HttpError', { code: 'timeout' }, false],
    ['StdioError', { code: 'exited' }, true],
    ['StdioError', { code: 'closed' }, false],
    ['Error', { code: 'closed' }, false],
  ])('by an error like %s %j is sent again: %j', async (name, details, isAgain) => {
    const exchange = losing(1, transportError(name, details))
    await createClient(exchange, quick)
      .getPrompt('p')
      .catch(() => {})
    expect(exchange.received).toHaveLength(isAgain ? 2 : 1)
  })

  test.each([
    [undefined, 12, 24],
    [700, 3, 6],
    [0, 1, 1],
  ])('is sent again as long as maxResendMs %j says [UNA-003]', async (maxResendMs, least, most) => {
    const exchange = losing(100)
    const runtime = createSkippingClock()
    const startedAt = runtime.monotonicNow()
    const call = createClient(exchange, { ...quick, runtime }).getPrompt('p', {}, { maxResendMs })
    await expect(call).rejects.toMatchObject({ code: 'transport', cause: lost })
    expect(exchange.received.length).toBeGreaterThanOrEqual(least)
    expect(exchange.received.length).toBeLessThanOrEqual(most)
    expect(runtime.monotonicNow() - startedAt).toBeLessThan((maxResendMs ?? 10_000) + 2000)
  })

  test('is not sent again for longer than the time limit of a call', async () => {
    const exchange = losing(100)
    await expect(createClient(exchange, { ...quick, timeoutMs: 50 }).getPrompt('p')).rejects.toMatchObject({
      code: 'transport',
    })
    expect(exchange.received.length).toBeLessThanOrEqual(2)
  })

  test('is not sent again once the connection was closed here', async () => {
    const closing = new AbortController()
    const exchange = createScriptedExchange(() => {
      closing.abort()
      throw lost
    })
    const client = createClient({ exchange, closed: closing.signal }, quick)
    await expect(client.getPrompt('p')).rejects.toMatchObject({ code: 'transport', cause: lost })
    expect(exchange.received).toHaveLength(1)
  })

  test('is sent again after each outage, when the server works for longer than one in between [UNA-003]', async () => {
    let now = 0
    const runtime = { ...createSkippingClock(), monotonicNow: () => now }
    const exchange = createScriptedExchange(() => {
      now += 15_000
      if (now < 60_000) throw lost
      return { messages: [] }
    })
    await createClient(exchange, { ...quick, runtime }).getPrompt('p')
    expect(exchange.received).toHaveLength(4)
  })

  test('is not sent again once the caller has cancelled', async () => {
    const controller = new AbortController()
    const exchange = createScriptedExchange(() => {
      controller.abort(new Error('enough'))
      throw lost
    })
    const call = createClient(exchange, quick).getPrompt('p', {}, { signal: controller.signal })
    await expect(call).rejects.toThrow('enough')
    expect(exchange.received).toHaveLength(1)
  })
})

describe('a call that never reached the server', () => {
  const refused = transportError('HttpError', { code: 'refused', mayHaveRun: false, origin: 'https://x.test' })

  test.each<[string, (client: ReturnType<typeof createClient>) => Promise<unknown>]>([
    ['of any tool', (client) => client.callTool('pay')],
    ['of an extension that says nothing', (client) => client.request('sessions/create')],
  ])('%s is sent again [UNA-003]', async (_title, call) => {
    const exchange = losing(3, refused)
    await call(createClient(exchange, quick))
    expect(exchange.received).toHaveLength(4)
  })

  test('because its certificate is not trusted is not sent again', async () => {
    const exchange = losing(1, transportError('HttpError', { code: 'certificate', origin: 'https://x.test' }))
    await expect(createClient(exchange, quick).callTool('pay')).rejects.toMatchObject({ code: 'transport' })
    expect(exchange.received).toHaveLength(1)
  })
})

test('a call that HTTP 429 rejects without a JSON-RPC error is sent again only after the time of Retry-After', async () => {
  const limited = (more: object = {}): Error =>
    transportError('HttpError', { code: 'status', status: 429, mayHaveRun: false, origin: 'https://x.test', ...more })
  const timeless = losing(1, limited())
  await expect(createClient(timeless, quick).callTool('pay')).rejects.toMatchObject({ mayHaveRun: false })
  const timed = losing(1, limited({ retryAfterMs: 7000 }))
  expect(await createClient(timed, quick).callTool('pay')).toMatchObject(createTextResult('done'))
  expect([timeless.received.length, timed.received.length]).toEqual([1, 2])
})

describe('a call of a tool that was never listed', () => {
  const tools = [
    createMinimalTool('keyed', { _meta: { [projectMetaKeys.keyedEffects]: true } }),
    createMinimalTool('pay'),
  ]
  const methodsOf = ({ received }: ScriptedExchange): string[] => received.map(({ request }) => request.method)

  test.each([
    ['keyed', ['tools/call', 'tools/list', 'tools/call']],
    ['pay', ['tools/call', 'tools/list']],
    ['hidden', ['tools/call', 'tools/list']],
  ])('is looked up once after its answer was lost: %s [UNA-003]', async (name, methods) => {
    const exchange = losing(1, lost, tools)
    const client = createClient(exchange, quick)
    await client.callTool(name).catch(() => {})
    expect(methodsOf(exchange)).toEqual(methods)
  })

  test('shares one list with other calls', async () => {
    const exchange = losing(5, lost, tools)
    const client = createClient(exchange, quick)
    await Promise.all(Array.from({ length: 5 }, () => client.callTool('keyed')))
    expect(methodsOf(exchange).filter((method) => method === 'tools/list')).toHaveLength(1)
  })

  test('is looked up again where the list could not be read', async () => {
    let canList = false
    let left = 1
    const exchange = createScriptedExchange(({ request }) => {
      if (request.method !== 'tools/list') {
        if (left-- > 0) throw lost
        return createTextResult('done')
      }
      if (!canList) throw transportError('HttpError', { code: 'protocol' })
      return createToolsPage(tools)
    })
    const client = createClient(exchange, quick)
    await expect(client.callTool('keyed')).rejects.toMatchObject({ code: 'transport', cause: lost })
    canList = true
    left = 1
    expect(await client.callTool('keyed')).toEqual(createTextResult('done'))
  })
})

describe('a call that the server could not store', () => {
  const keyedTool = createMinimalTool('keyed', { _meta: { [projectMetaKeys.keyedEffects]: true } })
  const unavailable = {
    error: { code: -32603, message: 'Not stored', data: { reason: 'unavailable', retryAfterMs: 5 } },
  }

  /** Gives these answers to calls one after the other, then says `done`. */
  const answering = (...answers: readonly (object | Error)[]): ScriptedExchange => {
    const left = [...answers]
    return createScriptedExchange(({ request }) => {
      if (request.method === 'tools/list') return createToolsPage([keyedTool, createMinimalTool('pay')])
      const answer = left.shift() ?? createTextResult('done')
      if (answer instanceof Error) throw answer
      // A script may answer with an error.
      return answer as JsonObject
    })
  }

  test.each([
    ['keyed', 2],
    ['pay', 1],
  ])('of the tool %s is sent %i times', async (name, times) => {
    const exchange = answering(unavailable)
    const client = createClient(exchange, quick)
    await client.listTools()
    const call = client.callTool(name)
    if (times === 2) expect(await call).toMatchObject(createTextResult('done'))
    else await expect(call).rejects.toMatchObject({ code: 'rpc', rpc: unavailable.error })
    expect(exchange.received).toHaveLength(1 + times)
  })

  test('fails with the last answer of the server when the time is over', async () => {
    const exchange = answering(...Array.from({ length: 100 }, () => unavailable))
    const client = createClient(exchange, quick)
    await client.listTools()
    await expect(client.callTool('keyed')).rejects.toMatchObject({ rpc: unavailable.error })
    expect(exchange.received.length).toBeGreaterThan(10)
  })

  test('is sent again although an answer is lost after the server was overloaded', async () => {
    const overloaded = { error: { code: -32603, message: 'Not now', data: { reason: 'overloaded', retryAfterMs: 0 } } }
    const exchange = answering(overloaded, lost, unavailable)
    const client = createClient(exchange, quick)
    await client.listTools()
    expect(await client.callTool('keyed')).toMatchObject(createTextResult('done'))
    expect(exchange.received).toHaveLength(1 + 4)
  })
})

describe('the idempotency key', () => {
  test('is the same in all rounds of a call, and another for each call', async () => {
    const answers = [
      createInputRequired({ who: nameFormRequest }, 's1'),
      createInputRequired(undefined, 's2'),
      createTextResult('done'),
      createTextResult('done'),
    ]
    const exchange = createScriptedExchange(() => answers.shift() ?? createTextResult('done'))
    const elicit = () => ({ action: 'accept', content: { name: 'Ada' } }) as const
    const client = createClient(exchange, { ...quick, elicit })
    await client.callTool('greet')
    await client.callTool('greet')
    const keys = exchange.received.map((_, index) => keyOf(exchange, index))
    expect(new Set(keys.slice(0, 3)).size).toBe(1)
    expect(keys[3]).not.toBe(keys[0])
  })

  test('is the value of the caller', async () => {
    const exchange = losing(0)
    const idempotencyKey = 'AAAAAAAAAAAAAAAAAAAAAA'
    await createClient(exchange, quick).callTool('greet', {}, { idempotencyKey })
    await createClient(exchange, quick).manualRounds.callTool('greet', {}, { idempotencyKey })
    expect([keyOf(exchange, 0), keyOf(exchange, 1)]).toEqual([idempotencyKey, idempotencyKey])
  })

  test('goes with no request that only lists', async () => {
    const exchange = losing(0)
    await createClient(exchange, quick).listTools()
    expect(keyOf(exchange, 0)).toBeUndefined()
  })
})
