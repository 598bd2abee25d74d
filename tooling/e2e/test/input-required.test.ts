import { createClient } from '@x/client'
import { type CreateMessageResult, metaKeys, protocolVersion, type Root } from '@x/schema'
import { type Context, prompt, resource, tool } from '@x/server'
import { expect, test } from 'vitest'
import { duplicateOf17, forms, keys, recordRequests, resolveTool, stateWith, textOf } from './asking.ts'
import { createGate } from '@tooling/vitest/gate'
import { overEveryTransport } from './over-every-transport.ts'
import { type RoundEvent, roundObserver } from './round-observer.ts'
import { resultOf, send } from './raw-request.ts'

const state = stateWith(keys.first)
const capabilities = { elicitation: {}, sampling: {}, roots: {} }
const meta = { [metaKeys.clientCapabilities]: capabilities }
const sampled: CreateMessageResult = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' }
const places: readonly Root[] = [{ uri: 'file:///work', name: 'work' }]
const accepted = (content: Record<string, string | number | boolean>) => ({ action: 'accept', content }) as const

const everything = tool('everything', {
  description: 'Asks the user, the model and the client concurrently',
  run: async (_, ctx) => {
    const [{ sure }, answer, roots] = await Promise.all([
      ctx.elicit('sure', { message: 'Are you sure?', schema: forms.sure }),
      ctx.sample('capital', {
        messages: [{ role: 'user', content: { type: 'text', text: 'Capital?' } }],
        maxTokens: 9,
      }),
      ctx.roots('places'),
    ])
    return JSON.stringify([sure, answer.content, roots])
  },
})

overEveryTransport('a call that asks', (serve) => {
  test('twice ends after three requests and does its work once', async () => {
    const work = { saved: [], runs: [] }
    await using served = await serve({ tools: [resolveTool(work)], state })
    const rounds: RoundEvent[] = []
    const extensions = [roundObserver((round) => void rounds.push(round))]
    const { client } = served.connect({ ...duplicateOf17, extensions })
    expect(textOf(await client.callTool('resolve', { id: 4522 }))).toBe('#4522 duplicates #17 (save 1)')
    expect(rounds.map(({ status, requests }) => [status, ...Object.keys(requests)])).toEqual([
      ['input_required', 'resolution'],
      ['input_required', 'original'],
      ['complete'],
    ])
    expect(work.saved).toEqual(['#4522 duplicates #17'])
  })

  test('is retried with the same arguments, the unchanged state, only the new answers and a new id [MRT-002 MRT-017 MRT-018 MRT-020 TOL-008]', async () => {
    await using served = await serve({ tools: [resolveTool()], state })
    const answers: unknown[] = []
    const { exchange, requests } = recordRequests(async (request, call) => {
      const response = await served.connect().exchange(request, call)
      answers.push(response)
      return response
    })
    const client = createClient(exchange, { name: 'e2e-client', version: '1.0.0', ...duplicateOf17 })
    await client.callTool('resolve', { id: 1 })
    const [first, second, third] = requests.map(({ params = {} }) => params)
    expect(first).not.toHaveProperty('requestState')
    expect(second).toMatchObject({ inputResponses: { resolution: accepted({ resolution: 'Duplicate' }) } })
    expect(third?.['inputResponses']).toEqual({ original: accepted({ original: 17 }) })
    expect([undefined, ...answers.slice(0, 2)]).toMatchObject([
      undefined,
      { result: { requestState: second?.['requestState'] } },
      { result: { requestState: third?.['requestState'] } },
    ])
    for (const params of [first, second, third]) {
      expect(params).toMatchObject({ name: 'resolve', arguments: { id: 1 } })
      expect(params?.['_meta']).toMatchObject({
        [metaKeys.protocolVersion]: protocolVersion,
        [metaKeys.clientInfo]: { name: 'e2e-client' },
        [metaKeys.clientCapabilities]: { elicitation: { form: {} } },
      })
    }
    expect(new Set(requests.map(({ id }) => id)).size).toBe(3)
  })

  test('for several inputs concurrently sends them in one result [MRT-001 MRT-005 MRT-006 MRT-014 SCO-001]', async () => {
    await using served = await serve({ tools: [everything], state })
    const call = { method: 'tools/call', params: { name: 'everything', arguments: {} }, meta, id: 7 }
    const { response, notifications } = await send(served.connect().exchange, call)
    expect(notifications).toEqual([])
    expect(response).toMatchObject({
      id: 7,
      result: {
        resultType: 'input_required',
        inputRequests: {
          sure: { method: 'elicitation/create' },
          capital: { method: 'sampling/createMessage' },
          places: { method: 'roots/list' },
        },
        requestState: expect.any(String),
      },
    })
    let rounds = 0
    const { client } = served.connect({
      elicit: () => accepted({ sure: true }),
      sample: () => sampled,
      roots: () => places,
      extensions: [roundObserver(() => void (rounds += 1))],
    })
    const text = textOf(await client.callTool('everything'))
    expect(JSON.parse(text)).toEqual([true, sampled.content, places])
    expect(rounds).toBe(2)
  })

  test('and is answered in part asks only for the rest and ignores unknown answers [MRT-024 MRT-025]', async () => {
    await using served = await serve({ tools: [everything], state })
    const { exchange } = served.connect()
    const params = { name: 'everything', arguments: {} }
    const first = await send(exchange, { method: 'tools/call', params, meta })
    const inputResponses = { sure: accepted({ sure: true }), unknown: accepted({ sure: false }) }
    const retry = { ...params, inputResponses, requestState: resultOf(first.response)['requestState'] ?? '' }
    const { response } = await send(exchange, { method: 'tools/call', params: retry, meta })
    expect(response).toMatchObject({ result: { resultType: 'input_required' } })
    expect(Object.keys(resultOf(response)['inputRequests'] ?? {}).toSorted()).toEqual(['capital', 'places'])
  })

  test.each(['decline', 'cancel'] as const)(
    'and receives %s for an answer reports it to the model and does not ask again',
    async (action) => {
      let asked = 0
      await using served = await serve({ tools: [resolveTool()], state })
      const elicit = () => {
        asked += 1
        return { action }
      }
      const result = await served.connect({ elicit }).client.callTool('resolve', { id: 1 })
      expect(result).toMatchObject({ isError: true })
      expect(textOf(result)).toContain('"resolution"')
      expect(asked).toBe(1)
    },
  )

  test('a client without the capability fails with -32021, which names it [MRT-015]', async () => {
    await using served = await serve({ tools: [resolveTool()], state })
    const call = { method: 'tools/call', params: { name: 'resolve', arguments: { id: 1 } } }
    const declared = { [metaKeys.clientCapabilities]: { sampling: {}, roots: {} } }
    const { response } = await send(served.connect().exchange, { ...call, meta: declared })
    expect(response).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } },
    })
    expect(response).not.toHaveProperty('result')
  })

  test('reports progress and logs in every round', async () => {
    const reports = tool('reports', {
      description: 'Reports before and after its question',
      run: async (_, ctx) => {
        ctx.progress(1, 2, 'before')
        ctx.log('info', 'before')
        await ctx.elicit('sure', { message: 'Sure?', schema: forms.sure })
        ctx.progress(2, 2, 'after')
        ctx.log('info', 'after')
        return 'done'
      },
    })
    // Strict replay runs a handler again, and so repeats its reports.
    await using served = await serve({ tools: [reports], state, strictReplay: false })
    const progress: unknown[] = []
    const logs: unknown[] = []
    await served.connect({ elicit: () => accepted({ sure: true }) }).client.callTool(
      'reports',
      {},
      {
        onProgress: ({ message }) => progress.push(message),
        onLog: ({ data }) => logs.push(data),
      },
    )
    expect(progress).toEqual(['before', 'before', 'after'])
    expect(logs).toEqual(['before', 'before', 'after'])
  })

  test('can be cancelled while a user answers: the question closes, and the server receives no answer', async () => {
    const work = { saved: [], runs: [] as string[] }
    await using served = await serve({ tools: [resolveTool(work)], state })
    const { exchange, requests } = recordRequests(served.connect().exchange)
    const controller = new AbortController()
    const reason = new Error('the user left')
    const closed = createGate()
    const client = createClient(exchange, {
      name: 'e2e-client',
      version: '1.0.0',
      elicit: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => closed.open())
          controller.abort(reason)
        }),
    })
    await expect(client.callTool('resolve', { id: 1 }, { signal: controller.signal })).rejects.toBe(reason)
    await closed.opened
    expect(requests).toHaveLength(1)
    expect(new Set(work.runs)).toEqual(new Set(['began']))
  })

  test('leaves the connection usable for other calls [MRT-021]', async () => {
    const open = tool('open', { description: 'Asks nothing', run: () => 'open' })
    await using served = await serve({ tools: [resolveTool(), open], state })
    const { exchange, requests } = recordRequests(served.connect().exchange)
    const gate = createGate()
    const client = createClient(exchange, {
      name: 'e2e-client',
      version: '1.0.0',
      elicit: async (question, context) => {
        await gate.opened
        return duplicateOf17.elicit(question, context)
      },
    })
    const asking = client.callTool('resolve', { id: 1 })
    expect(textOf(await client.callTool('open'))).toBe('open')
    gate.open()
    expect(textOf(await asking)).toBe('#1 duplicates #17 (save 1)')
    const others = requests.filter(({ params }) => params?.['name'] === 'open')
    expect(others).toHaveLength(1)
    for (const { params } of others)
      expect(Object.keys(params ?? {}).toSorted()).toEqual(['_meta', 'arguments', 'name'])
  })
})

overEveryTransport('a prompt and a resource', (serve) => {
  const letter = prompt('letter', {
    description: 'A letter to a person',
    run: async (_, ctx) => {
      const { login } = await ctx.elicit('to', { message: 'Which recipient?', schema: forms.login })
      return `Write to ${login}`
    },
  })
  function secretFile(reads: string[]) {
    return resource('test://secret', {
      name: 'secret',
      cache: { ttlMs: 60_000, scope: 'private' },
      read: async (ctx) => {
        const { login } = await ctx.elicit('who', { message: 'Who reads?', schema: forms.login })
        reads.push(login)
        return `for ${login}`
      },
    })
  }

  test('can ask for input', async () => {
    await using served = await serve({ prompts: [letter], resources: [secretFile([])], state })
    const { client } = served.connect({ elicit: () => accepted({ login: 'Ada' }) })
    const { messages } = await client.getPrompt('letter')
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Write to Ada' } }])
    expect((await client.readResource('test://secret')).contents).toMatchObject([{ text: 'for Ada' }])
  })

  test('that the user declines to answer fail with an error', async () => {
    await using served = await serve({ prompts: [letter], resources: [secretFile([])], state })
    const { client } = served.connect({ elicit: () => ({ action: 'decline' }) })
    await expect(client.getPrompt('letter')).rejects.toMatchObject({ rpc: { code: -32602 } })
    await expect(client.readResource('test://secret')).rejects.toMatchObject({ rpc: { code: -32602 } })
  })

  test('that were answered are not cached by the client, for any ttlMs [CCH-009]', async () => {
    const reads: string[] = []
    await using served = await serve({ resources: [secretFile(reads)], state, strictReplay: false })
    const names = ['Ada', 'Grace']
    const { client } = served.connect({ elicit: () => accepted({ login: names[reads.length] ?? 'nobody' }) })
    await client.readResource('test://secret')
    expect((await client.readResource('test://secret')).contents).toMatchObject([{ text: 'for Grace' }])
    expect(reads).toEqual(names)
  })
})

overEveryTransport('a call that has ended', (serve) => {
  test('asks nothing more: its context has ended, and the server has no other way to ask the client [SCO-001 SCO-002]', async () => {
    const contexts: Context[] = []
    const keeps = tool('keeps', {
      description: 'Keeps its context',
      run: (_, ctx) => {
        contexts.push(ctx)
        return 'done'
      },
    })
    await using served = await serve({ tools: [keeps], state })
    await served.connect({ elicit: () => accepted({ sure: true }) }).client.callTool('keeps')
    const [ctx] = contexts
    const question = { message: 'Sure?', schema: forms.sure }
    const sampleRequest = { messages: [], maxTokens: 1 }
    const ended = { name: 'HandlerError', code: 'ended' }
    await expect(ctx?.elicit('late', question)).rejects.toMatchObject(ended)
    await expect(ctx?.elicitUrl('late', { message: 'Go', url: 'https://example.com/' })).rejects.toMatchObject(ended)
    await expect(ctx?.sample('late', sampleRequest)).rejects.toMatchObject(ended)
    await expect(ctx?.roots('late')).rejects.toMatchObject(ended)
    // No member of a server other than results can ask a client. A new member must be reviewed.
    const offered =
      'adapters attachHost close drain emit exchange info ledger load localOnly log needsPrincipal notifyListChanged notifyResourceUpdated ready receive singleProcess update'
    expect(Object.keys(served.server).toSorted().join(' ')).toBe(offered)
  })
})
