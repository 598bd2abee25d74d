import type { Principal } from '@x/exchange'
import { errorCodes, type JsonObject, metaKeys } from '@x/schema'
import { StateError, type StateCodec } from '@x/state-codec'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, prompt, resourceTemplate, sealedState, tool } from '../index.ts'
import { sendRequest, createLogCollector } from '../testing/ask.ts'
import {
  accept,
  fullCapabilities,
  createStateRecorder,
  replayModes,
  completeCall,
  type Round,
  type RunHandler,
  type TestServer,
  send,
  serve,
} from '../testing/rounds.ts'

const secret = 'the secret answer'
const text = { message: 'What?', schema: z.object({ text: z.string() }) }
const run: RunHandler = async (ctx) => {
  await ctx.step('plan', () => secret)
  await ctx.elicit('a', text)
  return (await ctx.elicit('b', text)).text
}
const refused = {
  code: errorCodes.invalidParams,
  message: 'Invalid or expired requestState',
  data: { reason: 'requestState' },
}
const answer = accept({ text: secret })

/** What the client sees of a state that is not to be believed, and what the author. */
function seen({ error }: Round, { reported }: TestServer) {
  const told = reported.at(-1)?.error
  return { error, code: told instanceof StateError ? told.code : told }
}

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  describe('requestState of a tool', () => {
    test("of one service is not another's, though they share their keys [MRT-012]", async () => {
      const { state } = await send(serve(run, { ...mode, name: 'shop' }))
      const bank = serve(run, { ...mode, name: 'bank' })
      expect(seen(await send(bank, { state }), bank)).toMatchObject({ error: refused, code: 'binding' })
      const other = serve(run, { ...mode, name: 'shop' })
      expect(Object.keys((await send(other, { state, responses: { a: answer } })).requests)).toEqual(['b'])
    })

    test('opens at every instance with the same keys', async () => {
      const played = await completeCall([serve(run, mode), serve(run, mode)], { a: answer, b: answer })
      expect(played.text).toBe(secret)
    })

    const forged: [string, string, string][] = [
      ['empty', '', 'malformed'],
      ['no token', 'hello', 'malformed'],
      ['a megabyte', 'x'.repeat(1_000_000), 'too_large'],
      ['line noise', '\u0000..\uD800', 'malformed'],
    ]
    test.each(forged)(
      'that is %s is refused with one face, and the author is told why [MRT-007 MRT-009]',
      async (_, state) => {
        const served = serve(run, mode)
        const round = await send(served, { state, responses: { a: answer } })
        expect(round.error).toEqual(refused)
        expect(served.reported).toMatchObject([{ error: { name: 'StateError' }, where: { method: 'tools/call' } }])
      },
    )

    test("of one caller is not another's, whether they have a name or not [MRT-010]", async () => {
      const served = serve(run, mode)
      const ada: Principal = { subject: 'ada', issuer: 'https://a', client: 'c' }
      const { state } = await send(served, {}, { principal: ada })
      const others: (Principal | undefined)[] = [
        undefined,
        { ...ada, subject: 'bob' },
        { ...ada, issuer: 'https://b' },
        { ...ada, client: 'd' },
        { subject: 'ada' },
      ]
      for (const principal of others) {
        const round = await send(served, { state, responses: { a: answer } }, { principal })
        expect(seen(round, served)).toMatchObject({ error: refused, code: 'binding' })
      }
      const anonymous = await send(served)
      const round = await send(served, { state: anonymous.state }, { principal: ada })
      expect(seen(round, served)).toMatchObject({ error: refused, code: 'binding' })
      const again = { ...ada, scopes: ['more'] }
      const own = await send(served, { state, responses: { a: answer } }, { principal: again })
      expect(Object.keys(own.requests)).toEqual(['b'])
    })

    test('of a server with other keys is refused, and the author reads that the instances differ', async () => {
      const other = serve(run, {
        ...mode,
        state: sealedState({ keys: ['13de2cb75854e303d2db09941fcb7c5fc92746d110024060e04faf9fa811f868'] }),
      })
      const { state } = await send(other)
      const served = serve(run, mode)
      const round = await send(served, { state })
      expect(seen(round, served)).toMatchObject({ error: refused, code: 'unknown_key' })
    })

    test('that is too old is refused, and so is a call that has lasted too long [MRT-011]', async () => {
      let time = 1_000_000_000_000
      const clock = { now: () => time }
      const keys = ['ecbcaf49f1417ac2bcd2202b64dcb804d7009dccb099e810e5a6b9c7fa961aa9']
      const state = sealedState({ keys, runtime: clock, ttlMs: 1_000, maxAgeMs: 2_500 })
      const served = serve(run, { ...mode, state, runtime: { now: () => time } })
      const first = await send(served)
      time += 900
      const second = await send(served, { state: first.state, responses: { a: answer } })
      expect(Object.keys(second.requests)).toEqual(['b'])
      time += 900
      expect((await send(served, { state: second.state })).requests).toHaveProperty('b')
      const expired = await send(served, { state: first.state })
      expect(seen(expired, served)).toMatchObject({ error: refused, code: 'expired' })
      const third = await send(served, { state: second.state })
      time += 800
      const late = await send(served, { state: third.state })
      expect(seen(late, served)).toMatchObject({ error: refused, code: expect.stringMatching(/^(expired|too_old)$/) })
    })

    test('is refused if its codec does not say when the call began, and the log names what the codec must do', async () => {
      const { codec } = createStateRecorder()
      const silent: StateCodec = { ...codec, open: (token, { onOpen: _, ...own }) => codec.open(token, own) }
      const served = serve(run, { ...mode, state: silent })
      const { state } = await send(served)
      expect((await send(served, { state })).error).toEqual(refused)
      expect(served.reported.map(({ error }) => String(error))).toEqual([
        expect.stringContaining('must call `onOpen` in `open`'),
      ])
    })

    test('is refused where nothing can wait: state: false', async () => {
      const { state } = await send(serve(run, mode))
      const { error } = await send(serve(run, { ...mode, state: false }), { state })
      expect(error).toEqual(refused)
    })

    test('of a later format is refused, and the author reads so', async () => {
      const { codec } = createStateRecorder()
      const served = serve(run, { ...mode, state: codec })
      const { state = '' } = await send(served)
      for (const other of [{ v: 3 }, null, [], 'x', { v: 2, flow: 7 }]) {
        const [, binding] = JSON.parse(state)
        const round = await send(served, { state: JSON.stringify([other, binding]) })
        expect(round.error).toEqual(refused)
        expect(String(served.reported.at(-1)?.error)).toContain('format')
      }
    })

    test('that grows too large is an internal error, and the author reads which entries are large', async () => {
      const large: RunHandler = async (ctx) => {
        await ctx.step('big', () => 'x'.repeat(100_000))
        return (await ctx.elicit('a', text)).text
      }
      const served = serve(large, mode)
      const { error } = await send(served)
      expect(error).toEqual({ code: errorCodes.internal, message: 'Internal error' })
      expect(served.reported).toMatchObject([{ error: { code: 'too_large', message: expect.stringContaining('big') } }])
    })
  })

  test('altered in any byte, cut short or made longer is refused [MRT-008 MRT-009]', async () => {
    const served = serve(run, mode)
    const { state = '' } = await send(served)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'
    const alterations = fc.oneof(
      fc
        .tuple(fc.nat(state.length - 1), fc.constantFrom(...alphabet))
        .map(([at, byte]) => state.slice(0, at) + byte + state.slice(at + 1)),
      fc.nat(state.length - 1).map((length) => state.slice(0, length)),
      fc.constantFrom('A', '=', '.', ' ', '\n').map((end) => state + end),
    )
    await fc.assert(
      fc.asyncProperty(alterations, async (altered) => {
        fc.pre(altered !== state)
        expect((await send(served, { state: altered, responses: { a: answer } })).error).toEqual(refused)
      }),
      { numRuns: 150 },
    )
  })

  test('shows the client nothing of answers and steps, and neither does the log', async () => {
    const served = serve(run, mode)
    const first = await send(served)
    const second = await send(served, { state: first.state, responses: { a: answer } })
    const tampered = `${second.state?.slice(0, -1)}${second.state?.endsWith('A') ? 'B' : 'A'}`
    await send(served, { state: tampered, responses: { b: answer } })
    const shown = JSON.stringify([first, second])
    expect(shown).not.toContain(secret)
    expect(shown).not.toContain(Buffer.from(secret).toString('base64url').slice(0, -2))
    const error = served.reported.at(-1)?.error
    const logged = `${String(error)} ${JSON.stringify(error)} ${error instanceof StateError ? error.detail : ''}`
    expect(logged).not.toContain(secret)
    expect(logged).not.toContain(tampered)
  })
})

describe('a state', () => {
  const asking = async (_: unknown, ctx: Parameters<RunHandler>[0]) => (await ctx.elicit('a', text)).text
  const input = z.object({ n: z.number().optional(), deep: z.looseObject({}).optional() })
  const { reported, log } = createLogCollector()
  const server = createServer({
    name: 'demo',
    version: '1',
    state: sealedState({ keys: ['37a5a1d14d0755b9513296d5441abd5e68541ce97dfdfc30e98b1730dbc43d15'] }),
    log,
    tools: [
      tool('one', { description: 'd', input, run: asking }),
      tool('two', { description: 'd', input, run: asking }),
    ],
    prompts: [prompt('one', { input: z.object({ n: z.string().optional() }), run: asking })],
    resourceTemplates: [resourceTemplate('x://{id}', { name: 'x', read: asking })],
  })
  const meta = { [metaKeys.clientCapabilities]: fullCapabilities }
  const stateOf = async (method: string, params: JsonObject): Promise<string> => {
    const response = await sendRequest(server, method, params, { meta })
    return 'result' in response ? String(response.result['requestState']) : ''
  }
  const first: JsonObject = { name: 'one', arguments: { n: 1, deep: { a: 1, b: [2] } } }
  const others: [string, string, JsonObject][] = [
    ['another tool', 'tools/call', { ...first, name: 'two' }],
    ['another argument', 'tools/call', { name: 'one', arguments: { n: 2, deep: { a: 1, b: [2] } } }],
    ['a deep argument changed', 'tools/call', { name: 'one', arguments: { n: 1, deep: { a: 1, b: [3] } } }],
    ['an argument more', 'tools/call', { name: 'one', arguments: { n: 1, deep: { a: 1, b: [2], c: 0 } } }],
    ['an argument less', 'tools/call', { name: 'one', arguments: { n: 1 } }],
    ['another method', 'prompts/get', { name: 'one' }],
    ['another resource', 'resources/read', { uri: 'x://1' }],
  ]
  test.each(others)('of a call is refused for %s [MRT-012]', async (_, method, params) => {
    const requestState = await stateOf('tools/call', first)
    const response = await sendRequest(server, method, { ...params, requestState }, { meta })
    expect(response).toMatchObject({ error: refused })
    expect(reported.at(-1)?.error).toMatchObject({ code: 'binding' })
  })

  test.each([
    ['prompts/get', { name: 'one', arguments: { n: '1' } }, { name: 'one', arguments: { n: '2' } }],
    ['resources/read', { uri: 'x://1' }, { uri: 'x://2' }],
  ])('of %s is refused for another target [MRT-012]', async (method, params, other) => {
    const requestState = await stateOf(method, params)
    expect(await sendRequest(server, method, { ...other, requestState }, { meta })).toMatchObject({ error: refused })
    const inputResponses = { a: accept({ text: 'T' }) }
    const good = await sendRequest(server, method, { ...params, requestState, inputResponses }, { meta })
    expect(JSON.stringify(good)).toContain('"T"')
  })

  test('does not mind in which order a client writes the arguments, nor what else its _meta says', async () => {
    const requestState = await stateOf('tools/call', first)
    const turned = { arguments: { deep: { b: [2], a: 1 }, n: 1 }, name: 'one' }
    const retry = { ...turned, requestState, inputResponses: { a: accept({ text: 'T' }) } }
    const response = await sendRequest(server, 'tools/call', retry, {
      meta: { ...meta, traceparent: 'x', progressToken: 5 },
    })
    expect(JSON.stringify(response)).toContain('"text":"T"')
  })

  test('opens for a retry without a member of the params that means nothing to the method', async () => {
    const requestState = await stateOf('tools/call', { ...first, task: { ttl: 1000 }, uri: 'x://1' })
    const retry = { ...first, requestState, inputResponses: { a: accept({ text: 'T' }) } }
    expect(JSON.stringify(await sendRequest(server, 'tools/call', retry, { meta }))).toContain('"text":"T"')
  })

  const session = (sessionId: string) => ({ ...meta, 'io.modelcontextprotocol/session': { sessionId } })
  test.each([
    ['another session', session('a'), session('b')],
    ['no session', session('a'), meta],
    ['a session, of a call without one', meta, session('a')],
  ])('of a session is refused in %s', async (_, before, after) => {
    const asked = await sendRequest(server, 'tools/call', first, { meta: before })
    const requestState = 'result' in asked ? String(asked.result['requestState']) : ''
    const retry = { ...first, requestState, inputResponses: { a: accept({ text: 'T' }) } }
    expect(await sendRequest(server, 'tools/call', retry, { meta: after })).toMatchObject({ error: refused })
    expect(JSON.stringify(await sendRequest(server, 'tools/call', retry, { meta: before }))).toContain('"text":"T"')
  })

  test('of a method that may not ask is refused as such a method does [MRT-004]', async () => {
    const response = await sendRequest(server, 'tools/list', { requestState: 'x', inputResponses: {} }, { meta })
    expect('result' in response && response.result['resultType']).toBe('complete')
  })
})

describe('a server that was given no state', () => {
  const keyless = (settings: object) => serve(run, { state: undefined, ...settings })

  test.each(replayModes)('asks with a random key ($strictReplay)', async (mode) => {
    const served = keyless(mode)
    expect(served.server.singleProcess).toMatch(/random key.*sealedState/s)
    expect((await completeCall(served, { a: answer, b: answer })).text).toBe(secret)
    expect(served.warnings).toEqual([])
  })

  test("rejects another instance's state, and logs which option is missing", async () => {
    const { state } = await send(keyless({}))
    const other = keyless({})
    expect((await send(other, { state })).error).toEqual(refused)
    const logged = other.reported.at(-1)?.error
    expect(logged).toMatchObject({ code: 'unknown_key', detail: other.server.singleProcess })
  })

  test.each([
    ['keys', sealedState({ keys: ['e9af773a15cf0e838c8ea2b43965efd80b4b91b77c80bff14a8e4b0769ff17d7'] })],
    ['a codec of its own', createStateRecorder().codec],
    ['state: false', false as const],
  ])('is not one with %s', (_, state: StateCodec | false) => {
    expect(serve(run, { state }).server.singleProcess).toBeUndefined()
  })
})
