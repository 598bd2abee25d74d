import { createClient } from '@x/client'
import { type Exchange, type JsonObject, metaKeys } from '@x/schema'
import { tool, type LogRecord } from '@x/server'
import { memoryStore, sealedState, singleUseState } from '@x/state-codec'
import { manualClock } from '@tooling/vitest/manual-clock'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { duplicateOf17, forms, inTurns, keys, resolveTool, stateWith, textOf } from './asking.ts'
import { overEveryTransport } from './over-every-transport.ts'
import { resultOf, send } from './raw-request.ts'

const state = stateWith(keys.first)
const meta = { [metaKeys.clientCapabilities]: { elicitation: {} } }
const inputResponses = { resolution: { action: 'accept', content: { resolution: 'Fixed' } } }
const refused = {
  error: { code: -32602, message: 'Invalid or expired requestState', data: { reason: 'requestState' } },
}
const quiet = { log: () => {} }

const reopens = tool('reopens', {
  description: 'Another tool with the same arguments and question',
  input: z.object({ id: z.int() }),
  run: async (_, ctx) => {
    const { resolution } = await ctx.elicit('resolution', { message: 'How was it?', schema: forms.resolution })
    return resolution
  },
})

const callOf = (params: JsonObject) => ({ method: 'tools/call', params, meta })
const resolveOne: JsonObject = { name: 'resolve', arguments: { id: 1 } }

/** The state that a first call is given. */
async function stateFor(exchange: Exchange, params: JsonObject): Promise<string> {
  const { response } = await send(exchange, callOf(params))
  const { requestState } = resultOf(response)
  if (typeof requestState !== 'string') throw new Error('the first round gave no state')
  return requestState
}

overEveryTransport('a returned state', (serve) => {
  test('as it went out is taken', async () => {
    await using served = await serve({ tools: [resolveTool()], state })
    const { exchange } = served.connect()
    const requestState = await stateFor(exchange, resolveOne)
    const { response } = await send(exchange, callOf({ ...resolveOne, inputResponses, requestState }))
    expect(response).toMatchObject({ result: { content: [{ text: '#1 is fixed' }] } })
  })

  test('altered in any place is refused, and the handler does not run [MRT-007 MRT-008 MRT-009 MRT-026]', async () => {
    const work = { saved: [], runs: [] as string[] }
    await using served = await serve({ tools: [resolveTool(work)], state, ...quiet })
    const { exchange } = served.connect()
    const requestState = await stateFor(exchange, resolveOne)
    work.runs.length = 0
    const step = Math.ceil(requestState.length / 25)
    const altered = [
      ...Array.from({ length: 25 }, (_, at) => flipped(requestState, Math.min(at * step, requestState.length - 1))),
      `${requestState}A`,
      `${requestState}=`,
      ` ${requestState}`,
      requestState.slice(0, -1),
      requestState.split('.').slice(0, 4).join('.'),
      '',
      'null',
    ]
    for (const other of altered) {
      const { response } = await send(exchange, callOf({ ...resolveOne, inputResponses, requestState: other }))
      expect(response, other).toMatchObject(refused)
    }
    expect(work.runs).toEqual([])
  })

  test.each([
    ['another tool', { name: 'reopens', arguments: { id: 1 } }],
    ['other arguments', { name: 'resolve', arguments: { id: 2 } }],
    ['more arguments', { name: 'resolve', arguments: { id: 1, force: true } }],
  ])('with %s is refused [MRT-012]', async (_, params) => {
    await using served = await serve({ tools: [resolveTool(), reopens], state, ...quiet })
    const { exchange } = served.connect()
    const requestState = await stateFor(exchange, resolveOne)
    const { response } = await send(exchange, callOf({ ...params, inputResponses, requestState }))
    expect(response).toMatchObject(refused)
  })

  test.each([
    ['Ada', 'Grace'],
    ['Ada', undefined],
    [undefined, 'Grace'],
  ])('from %s by the hand of %s is refused [MRT-010]', async (owner, thief) => {
    await using served = await serve({ tools: [resolveTool()], state, ...quiet })
    const as = (subject: string | undefined) => served.connect(subject === undefined ? {} : { subject }).exchange
    const requestState = await stateFor(as(owner), resolveOne)
    const retry = callOf({ ...resolveOne, inputResponses, requestState })
    expect((await send(as(thief), retry)).response).toMatchObject(refused)
    expect((await send(as(owner), retry)).response).toHaveProperty('result')
  })

  test('too late is refused [MRT-011]', async () => {
    const clock = manualClock()
    const dated = sealedState({ keys: [keys.first], ttlMs: 1000, runtime: clock })
    await using served = await serve({
      tools: [resolveTool()],
      state: dated,
      runtime: { now: clock.monotonicNow },
      ...quiet,
    })
    const { exchange } = served.connect()
    const requestState = await stateFor(exchange, resolveOne)
    const retry = callOf({ ...resolveOne, inputResponses, requestState })
    clock.advance(999)
    expect((await send(exchange, retry)).response).toHaveProperty('result')
    clock.advance(1)
    expect((await send(exchange, retry)).response).toMatchObject(refused)
  })

  test('a second time is refused where the server says so [MRT-013]', async () => {
    const once = singleUseState(sealedState({ keys: [keys.first] }), memoryStore())
    await using served = await serve({ tools: [resolveTool()], state: once, ...quiet })
    const { exchange } = served.connect()
    const requestState = await stateFor(exchange, resolveOne)
    const retry = callOf({ ...resolveOne, inputResponses, requestState })
    expect((await send(exchange, retry)).response).toHaveProperty('result')
    expect((await send(exchange, retry)).response).toMatchObject(refused)
  })

  test.each([
    ['no object', []],
    ['null', null],
    ['an answer that is none', { resolution: 12345 }],
    ['an action that there is not', { resolution: { action: 'maybe' } }],
    ['a form with an object in it', { resolution: { action: 'accept', content: { resolution: {} } } }],
  ])('with answers that are %s is an error that names them [MRT-022 MRT-023]', async (_, given) => {
    await using served = await serve({ tools: [resolveTool()], state, ...quiet })
    const { exchange } = served.connect()
    const requestState = await stateFor(exchange, resolveOne)
    const { response } = await send(exchange, callOf({ ...resolveOne, inputResponses: given, requestState }))
    expect(response).toMatchObject({ error: { code: -32602, message: expect.stringContaining('inputResponses') } })
  })

  test('to an instance with other keys is refused, and says to its operator which fault it is', async () => {
    const told: unknown[] = []
    const log = ({ err }: LogRecord): void => void told.push(err)
    await using one = await serve({ tools: [resolveTool()], state })
    await using other = await serve({ tools: [resolveTool()], state: stateWith(keys.second), log })
    const requestState = await stateFor(one.connect().exchange, resolveOne)
    const { response } = await send(other.connect().exchange, callOf({ ...resolveOne, inputResponses, requestState }))
    expect(response).toMatchObject(refused)
    expect(told).toMatchObject([{ code: 'unknown_key' }])
  })

  test('to an instance with other keys makes the client start the call afresh, once', async () => {
    const definition = { tools: [resolveTool()], ...quiet }
    await using one = await serve({ ...definition, state })
    await using stranger = await serve({ ...definition, state: stateWith(keys.second) })
    const asked: string[] = []
    const options = {
      name: 'e2e-client',
      version: '1.0.0',
      elicit: (...[question, context]: Parameters<typeof duplicateOf17.elicit>) => {
        asked.push(context.key)
        return duplicateOf17.elicit(question, context)
      },
    }
    const [home, abroad] = [one.connect().exchange, stranger.connect().exchange]
    // Asked at home, refused abroad; asked again at home, and from there on all goes well.
    const lucky = createClient(inTurns(home, abroad, home, home, home), options)
    expect(textOf(await lucky.callTool('resolve', { id: 1 }, { rounds: { restart: true } }))).toBe(
      '#1 duplicates #17 (save 1)',
    )
    expect(asked).toEqual(['resolution', 'resolution', 'original'])
    const unlucky = createClient(inTurns(home, abroad), options)
    await expect(unlucky.callTool('resolve', { id: 1 }, { rounds: { restart: true } })).rejects.toMatchObject({
      code: 'rpc',
      rpc: refused.error,
    })
    expect(asked).toHaveLength(5)
  })
})

/** The text with one character changed into another of the same alphabet; a dot into a letter. */
function flipped(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
}
