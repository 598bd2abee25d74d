import { type JsonObject, metaKeys } from '@x/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createClient } from '../create-client.ts'
import {
  createInputRequired,
  form,
  createSequentialExchange,
  nameFormRequest,
  createUrlRequest,
  createSamplingRequest,
} from '../testing/asking.ts'
import {
  createMinimalTool,
  hostInfo,
  createTextResult,
  createScriptedExchange,
  createToolsPage,
} from '../testing/scripted-exchange.ts'
import type { PendingCall } from './pending-call.ts'

const accept = { action: 'accept', content: { name: 'Ada' } } as const
const manualHost = { ...hostInfo, capabilities: { elicitation: {} } }

describe('A call by hand', () => {
  test('returns its rounds and continues with the answers [MRT-017 MRT-018 MRT-019 MRT-020]', async () => {
    const exchange = createSequentialExchange(
      createInputRequired({ who: nameFormRequest }, 's1'),
      createInputRequired({ sure: nameFormRequest }),
    )
    const first = await createClient(exchange, manualHost).manualRounds.callTool('greet', { loud: true })
    if (first.status !== 'input_required') throw new Error('nothing was asked')
    expect(first.requests).toEqual({ who: nameFormRequest })
    const second = await first.resume({ who: accept })
    if (second.status !== 'input_required') throw new Error('nothing was asked')
    expect(await second.resume({ sure: { action: 'decline' } })).toEqual({
      status: 'complete',
      result: createTextResult('done'),
    })
    const call = { name: 'greet', arguments: { loud: true } }
    expect(exchange.received.map(({ params }) => params)).toEqual([
      call,
      { ...call, inputResponses: { who: accept }, requestState: 's1' },
      { ...call, inputResponses: { sure: { action: 'decline' } } },
    ])
    expect(new Set(exchange.received.map(({ request }) => request.id)).size).toBe(3)
  })

  test('is complete when nothing is asked', async () => {
    const prompt = createSequentialExchange({ messages: [] })
    expect(await createClient(prompt, hostInfo).manualRounds.getPrompt('p')).toMatchObject({ status: 'complete' })
    const resource = createSequentialExchange({ contents: [] })
    expect(await createClient(resource, hostInfo).manualRounds.readResource('a:b')).toMatchObject({
      status: 'complete',
    })
    expect([prompt.received[0]?.params, resource.received[0]?.params]).toEqual([{ name: 'p' }, { uri: 'a:b' }])
  })

  test('asks no handler', async () => {
    let asked = 0
    const client = createClient(createSequentialExchange(createInputRequired({ who: nameFormRequest })), {
      ...hostInfo,
      elicit: () => ((asked += 1), accept),
    })
    expect(await client.manualRounds.callTool('greet')).toMatchObject({ status: 'input_required' })
    expect(asked).toBe(0)
  })

  test('may receive a state and no questions', async () => {
    const exchange = createSequentialExchange(createInputRequired(undefined, 's1'))
    const round = await createClient(exchange, hostInfo).manualRounds.readResource('a:b', { timeoutMs: 5 })
    if (round.status !== 'input_required') throw new Error('nothing was asked')
    expect(round.requests).toEqual({})
    await round.resume({}).catch(() => {})
    expect(exchange.received[1]?.params).toEqual({ uri: 'a:b', requestState: 's1' })
  })

  test('fills in defaults, as with handlers', async () => {
    const exchange = createSequentialExchange(
      createInputRequired({ who: form({ name: { type: 'string', default: 'Ada' } }) }),
    )
    const round = await createClient(exchange, manualHost).manualRounds.callTool('greet')
    if (round.status === 'input_required') await round.resume({ who: { action: 'accept', content: {} } })
    expect(exchange.received[1]?.params.inputResponses).toEqual({ who: accept })
  })

  test.each<[string, object, string]>([
    ['an answer is missing', { who: accept }, 'there is no answer to "sure"'],
    ['an answer is to nothing', { who: accept, sure: accept, more: accept }, 'unexpected key "more"'],
    ['an answer is inherited', Object.create({ who: accept, sure: accept }), 'there is no answer to "who"'],
    [
      'an answer is wrong',
      { who: accept, sure: { action: 'accept', content: { name: 1 } } },
      '"sure" is not valid at content "name"',
    ],
  ])('sends nothing when %s', async (_title, answers, words) => {
    const exchange = createSequentialExchange(createInputRequired({ who: nameFormRequest, sure: nameFormRequest }))
    const round = await createClient(exchange, manualHost).manualRounds.callTool('greet')
    if (round.status !== 'input_required') throw new Error('nothing was asked')
    await expect(round.resume(answers as never)).rejects.toMatchObject({
      code: 'invalid_answer',
      target: 'greet',
      message: expect.stringContaining(words),
    })
    expect(exchange.received).toHaveLength(1)
  })

  test.each<[string, JsonObject, string]>([
    ['a kind that was not declared', createSamplingRequest(), 'input_required'],
    ['a page, when only forms were declared', createUrlRequest('https://example.com'), 'input_required'],
    ['nothing that exists', { method: 'x' }, 'invalid_result'],
  ])('fails when it is asked %s', async (_title, request, code) => {
    const client = createClient(createSequentialExchange(createInputRequired({ who: request })), manualHost)
    await expect(client.manualRounds.callTool('greet')).rejects.toMatchObject({ code })
  })

  test('shows no URL that must not be shown', async () => {
    const client = createClient(
      createSequentialExchange(createInputRequired({ pay: createUrlRequest('javascript:x') })),
      {
        ...hostInfo,
        capabilities: { elicitation: { url: {} } },
      },
    )
    await expect(client.manualRounds.callTool('buy')).rejects.toMatchObject({ code: 'invalid_result' })
  })

  test('ends at the limit of rounds', async () => {
    const exchange = createScriptedExchange(() => createInputRequired({ who: nameFormRequest }, 's'))
    const options = { rounds: { maxRounds: 1 } }
    const round = await createClient(exchange, manualHost).manualRounds.callTool('greet', {}, options)
    if (round.status !== 'input_required') throw new Error('nothing was asked')
    const failure = round.resume({ who: accept }, options)
    await expect(failure).rejects.toMatchObject({ code: 'too_many_rounds', target: 'greet' })
  })

  test('checks the output of its last result', async () => {
    const exchange = createScriptedExchange(({ request }) =>
      request.method === 'tools/list'
        ? createToolsPage([createMinimalTool('sum', { outputSchema: { type: 'object' } })])
        : createTextResult('x'),
    )
    const client = createClient(exchange, { ...hostInfo, outputSchemaCompiler: () => () => [] })
    await expect(client.manualRounds.callTool('sum')).rejects.toMatchObject({ code: 'invalid_output' })
  })
})

describe('A pending call', () => {
  const pendingOf = async (): Promise<string> => {
    const exchange = createSequentialExchange(createInputRequired({ who: nameFormRequest }, 's1 \ud800'))
    const secret = { meta: { token: 'hunter2' } } as const
    const round = await createClient(exchange, manualHost).manualRounds.callTool('greet', { loud: true }, secret)
    if (round.status !== 'input_required') throw new Error('nothing was asked')
    return JSON.stringify(round.pendingCall)
  }

  test('is plain JSON, with nothing of the options of the call', async () => {
    expect(JSON.parse(await pendingOf())).toEqual({
      method: 'tools/call',
      params: { name: 'greet', arguments: { loud: true } },
      requests: { who: nameFormRequest },
      state: 's1 \ud800',
      round: 1,
    })
  })

  test('continues in another process', async () => {
    const pending: PendingCall<'tools/call'> = JSON.parse(await pendingOf())
    const exchange = createSequentialExchange(createInputRequired({ sure: nameFormRequest }, 's2'))
    const options = { capabilities: { elicitation: { form: {} } }, ...hostInfo }
    const round = await createClient(exchange, options).manualRounds.resume(
      pending,
      { who: accept },
      { meta: { trace: 't' } },
    )
    expect(round).toMatchObject({ status: 'input_required', pendingCall: { round: 2, state: 's2' } })
    const [first] = exchange.received
    expect(first?.params).toEqual({
      name: 'greet',
      arguments: { loud: true },
      inputResponses: { who: accept },
      requestState: 's1 \ud800',
    })
    expect(first?.meta).toMatchObject({ trace: 't', [metaKeys.clientCapabilities]: options.capabilities })
  })

  const good = {
    method: 'tools/call',
    params: { name: 'greet', arguments: {} },
    requests: { who: nameFormRequest },
    state: 's',
    round: 1,
  }
  const deep = (levels: number): unknown => {
    let value: unknown = 'x'
    for (let level = 0; level < levels; level += 1) value = { value }
    return value
  }
  const endless: { self?: unknown } = {}
  endless.self = endless

  test.each<[string, unknown, string]>([
    ['text', 'tools/call', 'expected an object'],
    ['nothing', null, 'expected an object'],
    ['without a method', { ...good, method: undefined }, 'method'],
    ['of a method that asks nothing', { ...good, method: 'tools/list' }, 'method'],
    ['of a method of all objects', { ...good, method: 'constructor' }, 'method'],
    ['without params', { ...good, params: null }, 'params: expected an object'],
    ['without a target', { ...good, params: {} }, 'params.name'],
    ['of a resource without its URI', { ...good, method: 'resources/read' }, 'params.uri'],
    ['with arguments that are none', { ...good, params: { name: 'a', arguments: [] } }, 'params.arguments'],
    ['with a state that is no string', { ...good, state: { a: 1 } }, 'requestState: expected a string'],
    ['without a round', { ...good, round: undefined }, 'round'],
    ['with half a round', { ...good, round: 1.5 }, 'round'],
    ['with round 0', { ...good, round: 0 }, 'round'],
    ['with more hand-offs than rounds', { ...good, handOffs: 2 }, 'handOffs'],
    ['with half a hand-off', { ...good, handOffs: 0.5 }, 'handOffs'],
    ['with requests that are none', { ...good, requests: { who: 7 } }, '"who" expected an object'],
    ['that asks for nothing', { ...good, requests: {}, state: undefined }, 'neither requests nor a requestState'],
    ['that is too deep', { ...good, params: { name: 'a', arguments: deep(100_000) } }, 'larger than a message'],
    ['that refers to itself', { ...good, params: endless }, 'larger than a message'],
    ['that is too long', { ...good, state: 'x'.repeat(5_000_000) }, 'larger than a message'],
    [
      'that is too wide',
      { ...good, params: { name: 'a', arguments: Array.from({ length: 200_000 }, () => 0) } },
      'larger than a message',
    ],
  ])('%s is refused, and nothing is sent', async (_title, pending, words) => {
    const exchange = createSequentialExchange()
    const failure = createClient(exchange, manualHost).manualRounds.resume(pending as never, { who: accept })
    await expect(failure).rejects.toMatchObject({ code: 'invalid_pending', message: expect.stringContaining(words) })
    expect(exchange.received).toHaveLength(0)
  })

  test('brings nothing along but the call, its answers and its state', async () => {
    const exchange = createSequentialExchange()
    const pending = {
      ...good,
      params: { name: 'greet', arguments: {}, requestState: 'forged', inputResponses: {}, _meta: { a: 1 }, other: 1 },
    } as never
    await createClient(exchange, manualHost).manualRounds.resume(pending, { who: accept })
    expect(exchange.received[0]?.params).toEqual({
      name: 'greet',
      arguments: {},
      inputResponses: { who: accept },
      requestState: 's',
    })
    expect(exchange.received[0]?.meta).not.toHaveProperty('a')
  })

  test('of any shape either continues or is rejected with a reason', async () => {
    const keys = fc.constantFrom('method', 'params', 'requests', 'state', 'round')
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), keys, async (value, key) => {
        const client = createClient(createSequentialExchange(), manualHost)
        const outcome: unknown = await client.manualRounds
          .resume({ ...good, [key]: value } as never, { who: accept })
          .catch((error: unknown) => error)
        if (!(outcome instanceof Error)) expect(outcome).toMatchObject({ status: 'complete' })
        else expect(outcome).toMatchObject({ code: expect.stringMatching(/^invalid_(pending|answer)$/) })
      }),
    )
  })
})
