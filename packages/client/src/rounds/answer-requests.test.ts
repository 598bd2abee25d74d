import { type JsonObject, metaKeys } from '@x/schema'
import { describe, expect, test } from 'vitest'
import type { InputContext } from '../request/input-handlers.ts'
import {
  createInputRequired,
  form,
  createSequentialExchange,
  nameFormRequest,
  createUrlRequest,
  createSamplingRequest,
} from '../testing/asking.ts'
import { createClient } from '../create-client.ts'
import { hostInfo, pendingPromise } from '../testing/scripted-exchange.ts'

const accept = { action: 'accept', content: { name: 'Ada' } } as const
const elicit = (): typeof accept => accept
const answering = { ...hostInfo, elicit }

describe('The requests of a round', () => {
  test('are answered at once, each by its own handler', async () => {
    const exchange = createSequentialExchange(
      createInputRequired({
        form: nameFormRequest,
        page: createUrlRequest('https://example.com/pay'),
        model: createSamplingRequest(),
        places: { method: 'roots/list' },
      }),
    )
    const seen: [string, InputContext][] = []
    let open = (): void => {}
    const all = new Promise<void>((resolve) => {
      open = resolve
    })
    const meet = async (handler: string, context: InputContext): Promise<void> => {
      seen.push([handler, context])
      // No handler continues before the last of the four was called.
      if (seen.length === 4) open()
      await all
    }
    const sampled = { role: 'assistant', content: { type: 'text', text: 'So' }, model: 'm' } as const
    const client = createClient(
      { exchange, url: 'https://example.com/mcp' },
      {
        ...hostInfo,
        elicit: async ({ message }, context) => (await meet(`elicit ${message}`, context), accept),
        openUrl: async ({ url }, context) => (await meet(`openUrl ${url}`, context), { action: 'accept' }),
        sample: async ({ maxTokens }, context) => (await meet(`sample ${maxTokens}`, context), sampled),
        roots: async (context) => (await meet('roots', context), [{ uri: 'file:///home/ada' }]),
      },
    )
    await client.callTool('greet')
    expect(exchange.received[1]?.params.inputResponses).toEqual({
      form: accept,
      page: { action: 'accept' },
      model: sampled,
      places: { roots: [{ uri: 'file:///home/ada' }] },
    })
    expect(seen.map(([handler, { key }]) => [handler, key])).toEqual([
      ['elicit Tell me', 'form'],
      ['openUrl https://example.com/pay', 'page'],
      ['sample 10', 'model'],
      ['roots', 'places'],
    ])
    expect(seen[0]?.[1]).toMatchObject({
      method: 'tools/call',
      target: 'greet',
      round: 1,
      server: 'https://example.com/mcp',
    })
  })

  test('say which server asks, and in which round', async () => {
    const _meta = { [metaKeys.serverInfo]: { name: 'work-items', version: '2' } }
    const exchange = createSequentialExchange(
      { ...createInputRequired({ who: nameFormRequest }), _meta },
      { ...createInputRequired({ who: nameFormRequest }), _meta },
    )
    const contexts: InputContext[] = []
    const client = createClient(exchange, {
      ...hostInfo,
      elicit: (_question, context) => (contexts.push(context), accept),
    })
    await client.callTool('greet')
    expect(contexts.map(({ server, round }) => [server, round])).toEqual([
      ['work-items 2', 1],
      ['work-items 2', 2],
    ])
  })

  test.each(['__proto__', 'constructor', 'toString', '', 'a\nb', '\u{1f600}'])('may have the key %j', async (key) => {
    const exchange = createSequentialExchange(
      JSON.parse(JSON.stringify(createInputRequired({ k: nameFormRequest })).replace('"k"', JSON.stringify(key))),
    )
    await createClient(exchange, answering).callTool('greet')
    const responses = exchange.received[1]?.params.inputResponses
    expect(JSON.stringify(responses)).toBe(JSON.stringify({ k: accept }).replace('"k"', JSON.stringify(key)))
    expect(Object.getPrototypeOf(responses)).toBe(Object.prototype)
  })

  test.each<[string, JsonObject, string]>([
    ['neither requests nor a state', createInputRequired(), 'neither requests nor a requestState'],
    ['no request in its requests, and no state', createInputRequired({}), 'neither requests nor a requestState'],
    ['a state that is no string', { ...createInputRequired(), requestState: 7 }, 'requestState: expected a string'],
    [
      'requests that are a list',
      { ...createInputRequired(), inputRequests: [nameFormRequest] },
      'inputRequests: expected an object',
    ],
    ['a request that is none', createInputRequired({ who: 7 }), 'inputRequests "who" expected an object'],
    [
      'a request of an unknown method',
      createInputRequired({ who: { method: 'tools/call' } }),
      'inputRequests "who" method',
    ],
    [
      'a form without a schema',
      createInputRequired({ who: { method: 'elicitation/create', params: { message: 'm' } } }),
      'params.requestedSchema',
    ],
    [
      'a form with fields in fields',
      createInputRequired({ who: form({ a: { type: 'object' } }) }),
      'params.requestedSchema.properties.a',
    ],
    [
      'an unknown mode',
      createInputRequired({ who: { method: 'elicitation/create', params: { mode: 'x', message: 'm' } } }),
      'params.mode',
    ],
    [
      'a question to a model without messages',
      createInputRequired({ who: createSamplingRequest({ messages: 'x' }) }),
      'params.messages',
    ],
    [
      'more requests than the limit',
      createInputRequired(Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`k${at}`, nameFormRequest]))),
      'more than 100',
    ],
  ])('are refused with %s', async (_title, answer, words) => {
    let asked = 0
    const exchange = createSequentialExchange(answer)
    const failure = createClient(exchange, { ...hostInfo, elicit: () => ((asked += 1), accept) }).callTool('greet')
    await expect(failure).rejects.toMatchObject({ code: 'invalid_result', message: expect.stringContaining(words) })
    expect([asked, exchange.received.length]).toEqual([0, 1])
  })

  test.each<[string, JsonObject, string]>([
    ['a form', nameFormRequest, 'elicitation.form'],
    ['a page', createUrlRequest('https://example.com'), 'elicitation.url'],
    ['a sample', createSamplingRequest(), 'sampling'],
    ['a sample with tools', createSamplingRequest({ tools: [] }), 'sampling.tools'],
    ['roots', { method: 'roots/list' }, 'roots'],
  ])('fail the call when %s was not declared, and no handler runs', async (_title, request, capability) => {
    let asked = 0
    const exchange = createSequentialExchange(
      createInputRequired({
        known: capability === 'elicitation.form' ? createUrlRequest('https://a.example') : nameFormRequest,
        other: request,
      }),
    )
    const ask = (): { action: 'accept' } => ((asked += 1), { action: 'accept' })
    const handlers = capability === 'elicitation.form' ? { openUrl: ask } : { elicit: ask }
    const sampled = capability === 'sampling.tools' ? { sample: () => pendingPromise as never } : {}
    const failure = createClient(exchange, { ...hostInfo, ...handlers, ...sampled }).callTool('greet')
    await expect(failure).rejects.toMatchObject({
      code: 'input_required',
      message: expect.stringContaining(`"other", which needs ${capability}: this client has not declared it`),
    })
    expect([asked, exchange.received.length]).toEqual([0, 1])
  })

  test('fail the call when the capability was declared without a handler', async () => {
    const exchange = createSequentialExchange(createInputRequired({ who: nameFormRequest }))
    const failure = createClient(exchange, { ...hostInfo, capabilities: { elicitation: {} } }).callTool('greet')
    await expect(failure).rejects.toMatchObject({
      code: 'input_required',
      message: expect.stringMatching(/"who", and there is no handler `elicit`.*client\.manual/),
    })
  })

  test('fail the call with the error of a handler, and the other questions are closed', async () => {
    const exchange = createSequentialExchange(createInputRequired({ a: nameFormRequest, b: nameFormRequest }, 's'))
    const closed: unknown[] = []
    const broken = new Error('the dialog broke')
    const client = createClient(exchange, {
      ...hostInfo,
      elicit: (_question, { key, signal }) => {
        if (key === 'b') throw broken
        signal.addEventListener('abort', () => closed.push(signal.reason))
        return pendingPromise as never
      },
    })
    await expect(client.callTool('greet')).rejects.toBe(broken)
    expect(closed).toEqual([broken])
    expect(exchange.received).toHaveLength(1)
  })
})
