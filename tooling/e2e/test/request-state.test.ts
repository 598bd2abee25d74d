import { createClient } from '@x/client'
import type { Exchange } from '@x/exchange'
import { type JsonObject, metaKeys } from '@x/schema'
import type { LogRecord } from '@x/server'
import { memoryStore, sealedState, singleUseState } from '@x/state-codec'
import { manualClock } from '@tooling/vitest/manual-clock'
import { expect, test } from 'vitest'
import { duplicateOf17, roundRobin, keys, resolveTool, stateWith, textOf } from './asking.ts'
import { overEveryTransport } from './over-every-transport.ts'
import { resultOf, send } from './raw-request.ts'

const state = stateWith(keys.first)
const meta = { [metaKeys.clientCapabilities]: { elicitation: {} } }
const inputResponses = { resolution: { action: 'accept', content: { resolution: 'Fixed' } } }
const rejection = {
  error: { code: -32602, message: 'Invalid or expired requestState', data: { reason: 'requestState' } },
}
const quiet = { log: () => {} }

const callOf = (params: JsonObject) => ({ method: 'tools/call', params, meta })
const resolveOne: JsonObject = { name: 'resolve', arguments: { id: 1 } }

/** Returns the state of a first call. */
async function stateFor(exchange: Exchange, params: JsonObject): Promise<string> {
  const { response } = await send(exchange, callOf(params))
  const { requestState } = resultOf(response)
  if (typeof requestState !== 'string') throw new Error('the first round returned no state')
  return requestState
}

overEveryTransport('a request state', (serve) => {
  test('that is unchanged is accepted', async () => {
    await using served = await serve({ tools: [resolveTool()], state })
    const { exchange } = served.connect()
    const requestState = await stateFor(exchange, resolveOne)
    const { response } = await send(exchange, callOf({ ...resolveOne, inputResponses, requestState }))
    expect(response).toMatchObject({ result: { content: [{ text: '#1 is fixed' }] } })
  })

  test.each([
    ['Ada', 'Grace'],
    ['Ada', undefined],
    [undefined, 'Grace'],
  ])('of %s is rejected for %s [MRT-010]', async (owner, other) => {
    await using served = await serve({ tools: [resolveTool()], state, ...quiet })
    const as = (subject: string | undefined) => served.connect(subject === undefined ? {} : { subject }).exchange
    const requestState = await stateFor(as(owner), resolveOne)
    const retry = callOf({ ...resolveOne, inputResponses, requestState })
    expect((await send(as(other), retry)).response).toMatchObject(rejection)
    expect((await send(as(owner), retry)).response).toHaveProperty('result')
  })

  test('after its expiry is rejected [MRT-011]', async () => {
    const clock = manualClock()
    const expiring = sealedState({ keys: [keys.first], ttlMs: 1000, runtime: clock })
    await using served = await serve({
      tools: [resolveTool()],
      state: expiring,
      runtime: { now: clock.monotonicNow },
      ...quiet,
    })
    const { exchange } = served.connect()
    const requestState = await stateFor(exchange, resolveOne)
    const retry = callOf({ ...resolveOne, inputResponses, requestState })
    clock.advance(999)
    expect((await send(exchange, retry)).response).toHaveProperty('result')
    clock.advance(1)
    expect((await send(exchange, retry)).response).toMatchObject(rejection)
  })

  test('is rejected at a second use if the server allows one use [MRT-013]', async () => {
    const once = singleUseState(sealedState({ keys: [keys.first] }), memoryStore())
    await using served = await serve({ tools: [resolveTool()], state: once, ...quiet })
    const { exchange } = served.connect()
    const requestState = await stateFor(exchange, resolveOne)
    const retry = callOf({ ...resolveOne, inputResponses, requestState })
    expect((await send(exchange, retry)).response).toHaveProperty('result')
    expect((await send(exchange, retry)).response).toMatchObject(rejection)
  })

  test('is rejected by an instance with other keys, which logs the reason', async () => {
    const logged: unknown[] = []
    const log = ({ err }: LogRecord): void => void logged.push(err)
    await using one = await serve({ tools: [resolveTool()], state })
    await using other = await serve({ tools: [resolveTool()], state: stateWith(keys.second), log })
    const requestState = await stateFor(one.connect().exchange, resolveOne)
    const { response } = await send(other.connect().exchange, callOf({ ...resolveOne, inputResponses, requestState }))
    expect(response).toMatchObject(rejection)
    expect(logged).toMatchObject([{ code: 'unknown_key' }])
  })

  test('that an instance with other keys rejects makes the client restart the call once', async () => {
    const definition = { tools: [resolveTool()], ...quiet }
    await using one = await serve({ ...definition, state })
    await using second = await serve({ ...definition, state: stateWith(keys.second) })
    const asked: string[] = []
    const options = {
      name: 'e2e-client',
      version: '1.0.0',
      elicit: (...[question, context]: Parameters<typeof duplicateOf17.elicit>) => {
        asked.push(context.key)
        return duplicateOf17.elicit(question, context)
      },
    }
    const [firstExchange, secondExchange] = [one.connect().exchange, second.connect().exchange]
    // The second request is rejected by the other instance. The client restarts the call, and all further rounds
    // succeed.
    const client = createClient(
      roundRobin(firstExchange, secondExchange, firstExchange, firstExchange, firstExchange),
      options,
    )
    expect(textOf(await client.callTool('resolve', { id: 1 }, { rounds: { restart: true } }))).toBe(
      '#1 duplicates #17 (save 1)',
    )
    expect(asked).toEqual(['resolution', 'resolution', 'original'])
    const failingClient = createClient(roundRobin(firstExchange, secondExchange), options)
    await expect(failingClient.callTool('resolve', { id: 1 }, { rounds: { restart: true } })).rejects.toMatchObject({
      code: 'rpc',
      rpc: rejection.error,
    })
    expect(asked).toHaveLength(5)
  })
})
