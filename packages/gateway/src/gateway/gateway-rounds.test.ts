import { createCall } from '@x/exchange'
import { errorCodes, type JsonObject, metaKeys, type RpcResponse } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { callOf, createGateway, createNotes, errorOf, resultOf } from '../testing/gateway-kit.ts'
import {
  type ArrivedRequest,
  createRequest,
  createScriptedUpstream,
  olderOverHttp,
  olderOverStdio,
  type ScriptedUpstream,
} from '../testing/scripted-upstream.ts'

const accepted = (content: object) => ({ action: 'accept', content })
const invalidState = { code: errorCodes.invalidParams, message: 'Invalid or expired requestState' }

describe('a question of an upstream', () => {
  const ask = { name: 'crm__ask', arguments: {} }
  const inputResponses = { name: accepted({ name: 'Ada' }) }

  test('can be answered at any instance [GWY-008]', async () => {
    const crm = createNotes('crm')
    const [one, two] = [createGateway({ crm }), createGateway({ crm })]
    const { resultType, inputRequests, requestState } = await resultOf(one, 'tools/call', ask, callOf('ada'))
    expect([resultType, inputRequests]).toMatchObject(['input_required', { name: { method: 'elicitation/create' } }])
    const result = await resultOf(two, 'tools/call', { ...ask, inputResponses, requestState }, callOf('ada'))
    expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'Ada' }] })
    await Promise.all([one.close(), two.close()])
  })

  test.each<[string, (state: string) => object, string?]>([
    ['of another principal', (requestState) => ({ ...ask, requestState }), 'grace'],
    ['for another upstream', (requestState) => ({ ...ask, name: 'files__ask', requestState })],
    ['for other arguments', (requestState) => ({ ...ask, arguments: { more: 1 }, requestState })],
    [
      'with an altered tag',
      (state) => ({ ...ask, requestState: state.replace(/.$/, (end) => (end === 'A' ? 'B' : 'A')) }),
    ],
    ['with another state behind the tag', (state) => ({ ...ask, requestState: `${state}A` })],
    ['without a tag', () => ({ ...ask, requestState: 'state' })],
    ['with a length beyond its end', (state) => ({ ...ask, requestState: state.replace(/^\d+/, '99999') })],
  ])('has a state that is rejected %s before it reaches the upstream [GWY-004]', async (_, change, subject = 'ada') => {
    const files = createScriptedUpstream()
    const server = createGateway({ crm: createNotes('crm'), files })
    const { requestState } = await resultOf(server, 'tools/call', ask, callOf('ada'))
    const params = { inputResponses, ...change(String(requestState)) }
    expect(await errorOf(server, 'tools/call', params, callOf(subject))).toMatchObject(invalidState)
    expect(files.arrived).toHaveLength(0)
    await server.close()
  })
})

/** Asks one question for each call, like a process that keeps the call in memory. Rejects unknown states. */
function createOlder(name: string, peer = olderOverStdio): ScriptedUpstream {
  let calls = 0
  const waiting = new Set<unknown>()
  const answer = async ({ request: { id, params } }: ArrivedRequest): Promise<RpcResponse> => {
    const state = params?.['requestState']
    if (state === undefined) {
      calls += 1
      const requestState = `${name}-${calls}`
      waiting.add(requestState)
      const question = {
        method: 'elicitation/create',
        params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
      }
      return {
        jsonrpc: '2.0',
        id,
        result: { resultType: 'input_required', requestState, inputRequests: { q: question } },
      }
    }
    if (!waiting.delete(state))
      return { jsonrpc: '2.0', id, error: { code: -32602, message: `unknown ${String(state)}` } }
    const text = JSON.stringify(params?.['inputResponses'])
    return { jsonrpc: '2.0', id, result: { resultType: 'complete', content: [{ type: 'text', text }] } }
  }
  return createScriptedUpstream({ peer, answer })
}

describe('a call of an older upstream, which is kept in the process of one instance', () => {
  const ask = { name: 'old__greet', arguments: {} }
  const inputResponses = { q: accepted({ name: 'Ada' }) }
  /** Repeats a call at the instances in turn until it is complete, as a host does behind a load balancer. */
  async function repeat(
    instances: readonly Pick<ReturnType<typeof createGateway>, 'exchange'>[],
    first: JsonObject,
  ): Promise<{ readonly result: JsonObject; readonly requests: number }> {
    let result = first
    let requests = 0
    let answers: object | undefined = inputResponses
    while (result['resultType'] === 'input_required') {
      const server = instances[requests % instances.length]
      if (server === undefined) throw new Error('no instance')
      const { requestState } = result
      result = await resultOf(server, 'tools/call', {
        ...ask,
        requestState,
        ...(answers && { inputResponses: answers }),
      })
      requests += 1
      // The answers were accepted, and a result without a question asks for none.
      answers = undefined
    }
    return { result, requests }
  }

  test.each([
    ['over stdio', olderOverStdio],
    ['over HTTP', olderOverHttp],
  ])('%s continues there, for an answer that any instance receives', async (_, peer) => {
    const upstreams = ['a', 'b', 'c'].map((name) => createOlder(name, peer))
    const [one, two, three] = upstreams.map((old) => createGateway({ old })) as [never, never, never]
    const first = await resultOf(one, 'tools/call', ask)
    expect(first['inputRequests']).toHaveProperty('q')
    const { result, requests } = await repeat([two, three, one], first)
    expect(result).toMatchObject({ content: [{ text: JSON.stringify(inputResponses) }] })
    expect(requests).toBe(3)
    expect(upstreams.map(({ arrived }) => arrived.length)).toEqual([2, 0, 0])
    await Promise.all([one, two, three].map((server: ReturnType<typeof createGateway>) => server.close()))
  })

  test('ends with an error about its possible effects if no instance can reach the process [GWY-012]', async () => {
    const [one, two] = [createGateway({ old: createOlder('a') }), createGateway({ old: createOlder('b') })]
    const first = await resultOf(one, 'tools/call', ask)
    await expect(repeat([two], first)).rejects.toThrow(/may have acted/)
    await Promise.all([one.close(), two.close()])
  })

  test('of another host is not continued with its state [GWY-006]', async () => {
    const old = createOlder('a')
    const server = createGateway({ old })
    const { requestState } = await resultOf(server, 'tools/call', ask, callOf('ada'))
    const stolen = { ...ask, inputResponses, requestState }
    expect(await errorOf(server, 'tools/call', stolen, callOf('grace'))).toMatchObject(invalidState)
    const other = await resultOf(server, 'tools/call', ask, callOf('grace'))
    expect(other).toMatchObject({ resultType: 'input_required' })
    expect(new Set(old.arrived.map(({ connection }) => connection)).size).toBe(2)
    const mine = await resultOf(server, 'tools/call', stolen, callOf('ada'))
    expect(mine).toMatchObject({ resultType: 'complete' })
    await server.close()
  })
})

test('the principal of a host reaches a server in this process, and no other upstream [GWY-009]', async () => {
  const outside = createScriptedUpstream()
  const server = createGateway({ crm: createNotes('crm'), outside })
  const call = createCall({ principal: { subject: 'ada' } })
  const { content } = await resultOf(server, 'tools/call', { name: 'crm__add', arguments: {} }, call)
  expect(content).toMatchObject([{ text: 'crm for ada' }])
  await resultOf(server, 'tools/call', { name: 'outside__add', arguments: {} }, call)
  expect(outside.arrived.map(({ call: arrived }) => arrived.principal)).toEqual([undefined])
  await server.close()
})

test('a call whose login ends between two rounds continues from its state after the next login', async () => {
  const states: unknown[] = []
  const form = { type: 'object', properties: {} }
  const crm = createScriptedUpstream({
    answer: async ({ request: { id, params } }) => {
      states.push(params?.['requestState'])
      const question = {
        method: 'elicitation/create',
        params: { message: 'Who?', requestedSchema: form },
      }
      const asked = { resultType: 'input_required', requestState: 'inner', inputRequests: { q: question } }
      return { jsonrpc: '2.0', id, result: asked }
    },
  })
  const auth = { headers: () => ({}), onResponse: () => undefined }
  const loginUrl = 'https://gateway.example/login'
  let isLoggedIn = true
  const server = createGateway({ crm: { connect: crm.connect, credential: () => (isLoggedIn ? auth : { loginUrl }) } })
  const exchange = async (more: object): Promise<JsonObject> => {
    const { params, ...request } = createRequest('tools/call', { ...ask, ...more })
    const _meta = { ...Object(params?.['_meta']), [metaKeys.clientCapabilities]: { elicitation: { url: {} } } }
    const response = await server.exchange({ ...request, params: { ...params, _meta } }, callOf('ada'))
    return 'result' in response ? response.result : {}
  }
  const ask = { name: 'crm__greet', arguments: {} }
  const { requestState } = await exchange({})
  isLoggedIn = false
  const needed = await exchange({ requestState, inputResponses: { q: accepted({}) } })
  expect(needed).toMatchObject({ requestState, inputRequests: { 'gateway.login': { params: { url: loginUrl } } } })
  isLoggedIn = true
  const answers = { 'gateway.login': { action: 'accept' } }
  expect(await exchange({ requestState, inputResponses: answers })).toMatchObject({ inputRequests: { q: {} } })
  expect(states).toEqual([undefined, 'inner'])
  await server.close()
})
