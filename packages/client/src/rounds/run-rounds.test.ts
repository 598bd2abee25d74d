import { headerParamsKey, type Exchange } from '@x/exchange'
import { encodeMessage, isRequest, isResponse, metaKeys, parseMessage, protocolVersion } from '@x/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createInputRequired, createSequentialExchange, nameFormRequest, flushPromises } from '../testing/asking.ts'
import { createClient } from '../create-client.ts'
import { manualClock } from '@tooling/vitest/manual-clock'
import {
  createMinimalTool,
  hostInfo,
  createTextResult,
  createScriptedExchange,
  createToolsPage,
} from '../testing/scripted-exchange.ts'

const accept = { action: 'accept', content: { name: 'Ada' } } as const
const elicit = (): typeof accept => accept
const answering = { ...hostInfo, elicit }

describe('A call that is asked for input', () => {
  test('is sent again with the same params, every answer and the state, and gives the last result [MRT-017 MRT-018]', async () => {
    const exchange = createSequentialExchange(
      createInputRequired({ who: nameFormRequest, again: nameFormRequest }, 's1'),
    )
    const result = await createClient(exchange, answering).callTool('greet', { loud: true })
    expect(result).toEqual(createTextResult('done'))
    expect(exchange.received.map(({ params }) => params)).toEqual([
      { name: 'greet', arguments: { loud: true } },
      {
        name: 'greet',
        arguments: { loud: true },
        inputResponses: { who: accept, again: accept },
        requestState: 's1',
      },
    ])
  })

  test('has another id and the whole _meta in each request [MRT-002 MRT-020 TOL-008]', async () => {
    const exchange = createSequentialExchange(
      createInputRequired({ who: nameFormRequest }, 's1'),
      createInputRequired({ who: nameFormRequest }),
    )
    await createClient(exchange, answering).callTool('greet', {}, { meta: { traceparent: 't' } })
    expect(new Set(exchange.received.map(({ request }) => request.id)).size).toBe(3)
    for (const { meta } of exchange.received) {
      expect(meta).toMatchObject({
        [metaKeys.protocolVersion]: protocolVersion,
        [metaKeys.clientCapabilities]: { elicitation: { form: {} } },
        [metaKeys.clientInfo]: hostInfo,
        traceparent: 't',
      })
    }
  })

  test('sends back the state of the last round alone, and none where none came [MRT-018 MRT-019]', async () => {
    const exchange = createSequentialExchange(
      createInputRequired({ a: nameFormRequest }, 's1'),
      createInputRequired({ b: nameFormRequest }, 's2'),
      createInputRequired({ c: nameFormRequest }),
    )
    await createClient(exchange, answering).callTool('greet')
    const [, second, third, fourth] = exchange.received.map(({ params }) => params)
    expect(second).toMatchObject({ requestState: 's1', inputResponses: { a: accept } })
    expect(third).toMatchObject({ requestState: 's2', inputResponses: { b: accept } })
    expect(Object.keys(third?.inputResponses ?? {})).toEqual(['b'])
    expect(fourth).not.toHaveProperty('requestState')
    expect(fourth).toMatchObject({ inputResponses: { c: accept } })
  })

  test('echoes any well-formed string as the state, over the wire too [MRT-003 MRT-018]', async () => {
    const strange = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
    const state = fc.oneof(
      strange.map((units) => String.fromCharCode(...units)),
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.constant('x'.repeat(300_000)),
    )
    await fc.assert(
      fc.asyncProperty(state, async (requestState) => {
        const scriptOf = createSequentialExchange(createInputRequired({ who: nameFormRequest }, requestState))
        const wired: Exchange = async (request, call) => {
          const read = parseMessage(encodeMessage(request))
          if (!isRequest(read)) throw new Error('the request was not read as one')
          const answer = parseMessage(encodeMessage(await scriptOf(read, call)))
          if (!isResponse(answer)) throw new Error('the response was not read as one')
          return answer
        }
        await createClient(wired, answering).callTool('greet')
        expect(scriptOf.received[1]?.params.requestState).toBe(requestState.replaceAll(/\p{Surrogate}/gu, '\uFFFD'))
      }),
      { numRuns: 200 },
    )
  })

  test.each([
    ['a prompt', 'prompts/get', { messages: [] }],
    ['a resource', 'resources/read', { contents: [] }],
  ])('may be %s as well as a tool', async (_title, method, result) => {
    const exchange = createSequentialExchange(createInputRequired({ who: nameFormRequest }, 's'), {
      resultType: 'complete',
      ...result,
    })
    const client = createClient(exchange, answering)
    await (method === 'prompts/get' ? client.getPrompt('p', { a: '1' }) : client.readResource('a:b'))
    const call = method === 'prompts/get' ? { name: 'p', arguments: { a: '1' } } : { uri: 'a:b' }
    expect(exchange.received.map(({ request }) => request.method)).toEqual([method, method])
    expect(exchange.received[1]?.params).toEqual({ ...call, inputResponses: { who: accept }, requestState: 's' })
  })

  test('keeps its answers and its state apart from those of concurrent calls [MRT-021]', async () => {
    const exchange = createScriptedExchange(({ params }) => {
      if (params.requestState !== undefined) return createTextResult(JSON.stringify(params))
      return createInputRequired(
        { [`key of ${String(params.name)}`]: nameFormRequest },
        `state of ${String(params.name)}`,
      )
    })
    const client = createClient(exchange, {
      ...hostInfo,
      elicit: async (_question, { target = '' }) => {
        await flushPromises()
        return { action: 'accept', content: { name: target } }
      },
    })
    const names = ['a', 'b', 'c', 'd']
    await Promise.all([
      ...names.map((name) => client.callTool(name)),
      client.complete(ref, { name: 'x', value: '' }).catch(() => {}),
    ])
    const retries = exchange.received.filter(({ params }) => 'requestState' in params)
    expect(retries).toHaveLength(4)
    for (const { params } of retries) {
      expect(params.requestState).toBe(`state of ${String(params.name)}`)
      const content = { name: params.name }
      expect(params.inputResponses).toEqual({ [`key of ${String(params.name)}`]: { action: 'accept', content } })
    }
    expect(exchange.received).toHaveLength(9)
  })

  const ref = { type: 'ref/prompt', name: 'p' } as const

  test('receives progress of each request', async () => {
    const notifyProgress = ({
      request,
      call,
    }: {
      request: { id: unknown }
      call: { notify: (message: never) => void }
    }): void =>
      call.notify({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: request.id, progress: Number(request.id) },
      } as never)
    const exchange = createSequentialExchange(
      (received) => (notifyProgress(received), createInputRequired({ who: nameFormRequest })),
      (received) => (notifyProgress(received), createTextResult('done')),
    )
    const reported: number[] = []
    await createClient(exchange, answering).callTool(
      'greet',
      {},
      { onProgress: ({ progress }) => reported.push(progress) },
    )
    expect(reported).toEqual(exchange.received.map(({ request }) => request.id))
  })

  test('mirrors headers in each request, and a mismatch in a later round repeats no question', async () => {
    const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } }
    let calls = 0
    const exchange = createScriptedExchange(({ request }) => {
      if (request.method === 'tools/list') return createToolsPage([createMinimalTool('deploy', { inputSchema })])
      calls += 1
      if (calls === 1) return createInputRequired({ who: nameFormRequest }, 's')
      return calls === 2 ? { error: { code: -32020, message: 'Header mismatch' } } : createTextResult('done')
    })
    let questions = 0
    const client = createClient(exchange, { ...hostInfo, elicit: () => ((questions += 1), accept) })
    await client.listTools()
    expect(await client.callTool('deploy', { region: 'eu' })).toEqual(createTextResult('done'))
    const sent = exchange.received.filter(({ request }) => request.method === 'tools/call')
    expect(sent.map(({ call }) => call.context.get(headerParamsKey)?.get('Region'))).toEqual(['eu', 'eu', 'eu'])
    expect(sent.map(({ params }) => params.requestState)).toEqual([undefined, 's', 's'])
    expect(questions).toBe(1)
  })

  test('checks the output of its last result', async () => {
    const tool = createMinimalTool('sum', { outputSchema: { type: 'object' } })
    const exchange = createScriptedExchange(({ request, params }) => {
      if (request.method === 'tools/list') return createToolsPage([tool])
      return 'inputResponses' in params
        ? createTextResult('no structure')
        : createInputRequired({ who: nameFormRequest })
    })
    const client = createClient(exchange, { ...answering, outputSchemaCompiler: () => () => [] })
    await expect(client.callTool('sum')).rejects.toMatchObject({ code: 'invalid_output' })
  })

  test('is never kept in the cache, neither the question nor the result of its answer', async () => {
    const fresh = { ttlMs: 60_000, cacheScope: 'private' }
    const exchange = createScriptedExchange(({ params }) => {
      const contents = [{ uri: 'a:b', text: JSON.stringify(params.inputResponses) }]
      return 'inputResponses' in params
        ? { contents, ...fresh }
        : { ...createInputRequired({ who: nameFormRequest }), ...fresh }
    })
    let asked = 0
    const client = createClient(exchange, { ...hostInfo, elicit: () => ((asked += 1), accept) })
    await client.readResource('a:b')
    await client.readResource('a:b')
    expect([asked, exchange.received.length, client.cache.hits]).toEqual([2, 4, 0])
  })
})

describe('Handlers of a call', () => {
  test('go before those of the client, and are declared with this call alone', async () => {
    const exchange = createScriptedExchange(({ params }) =>
      'inputResponses' in params ? createTextResult('done') : createInputRequired({ who: nameFormRequest }),
    )
    const client = createClient(exchange, { ...hostInfo, roots: () => [] })
    const mine = { action: 'accept', content: { name: 'Eve' } } as const
    await client.callTool('greet', {}, { elicit: () => mine })
    await expect(client.callTool('greet')).rejects.toMatchObject({ code: 'input_required' })
    const declared = exchange.received.map(({ meta }) => meta[metaKeys.clientCapabilities])
    const both = { elicitation: { form: {} }, roots: {} }
    expect(declared).toEqual([both, both, { roots: {} }])
    expect(exchange.received[1]?.params.inputResponses).toEqual({ who: mine })
  })
})

describe('A round without requests', () => {
  test('is followed by the same call with the state, after a pause that is the same the first times', async () => {
    const clock = manualClock()
    const exchange = createSequentialExchange(
      createInputRequired(undefined, 's1'),
      createInputRequired(undefined, 's2'),
      createInputRequired({}, 's3'),
    )
    const result = createClient(exchange, { ...hostInfo, runtime: clock }).callTool('greet')
    const sent = async (after: number): Promise<number> => {
      await flushPromises()
      clock.advance(after)
      await flushPromises()
      return exchange.received.length
    }
    expect(await sent(24)).toBe(1)
    expect(await sent(26)).toBe(2)
    expect(await sent(24)).toBe(2)
    expect(await sent(26)).toBe(3)
    expect(await sent(24)).toBe(3)
    expect(await sent(26)).toBe(4)
    expect(await result).toEqual(createTextResult('done'))
    expect(exchange.received.map(({ params }) => params)).toEqual([
      { name: 'greet', arguments: {} },
      { name: 'greet', arguments: {}, requestState: 's1' },
      { name: 'greet', arguments: {}, requestState: 's2' },
      { name: 'greet', arguments: {}, requestState: 's3' },
    ])
    expect(clock.waiting).toBe(0)
  })

  test('ends at once when the caller cancels', async () => {
    const clock = manualClock()
    const controller = new AbortController()
    const exchange = createSequentialExchange(createInputRequired(undefined, 's1'))
    const result = createClient(exchange, { ...hostInfo, runtime: clock }).callTool(
      'greet',
      {},
      { signal: controller.signal },
    )
    await flushPromises()
    controller.abort('enough')
    await expect(result).rejects.toBe('enough')
    expect([exchange.received.length, clock.waiting]).toEqual([1, 0])
  })
})

describe('A server that never ends its questions', () => {
  test.each([
    ['ten times by default', undefined, 11],
    ['as often as it may', 3, 4],
    ['never when it may not', 0, 1],
    ['never when the limit is no number', Number.NaN, 1],
  ])('is answered %s', async (_title, limit, requests) => {
    const exchange = createScriptedExchange(() => createInputRequired({ who: nameFormRequest }, 's'))
    const rounds = limit === undefined ? {} : { maxRounds: limit }
    const failure = createClient(exchange, answering).callTool('greet', {}, { rounds })
    await expect(failure).rejects.toMatchObject({
      code: 'too_many_rounds',
      target: 'greet',
      message: expect.stringContaining('tools/call "greet"'),
    })
    expect(exchange.received).toHaveLength(requests)
  })
})
