import { canHandOffKey } from '@x/exchange'
import { errorCodes, type JsonObject, type RpcRequest, type RpcResponse } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { echo, resultOf } from '../testing/exchanges.ts'
import { createPostRequest } from '../testing/sent.ts'
import { serveFunctions } from '../testing/shells.ts'

const callTool = createPostRequest('tools/call', { name: 'a' })

function refusing(data: JsonObject | undefined, code: number = errorCodes.internal) {
  return async ({ id }: RpcRequest): Promise<RpcResponse> => ({
    jsonrpc: '2.0',
    id,
    error: { code, message: 'The server is overloaded', ...(data !== undefined && { data }) },
  })
}

describe.each(serveFunctions)('%s', (name, serve) => {
  test.each([
    [1, '1'],
    [0, '1'],
    [1001, '2'],
    [30_000, '30'],
  ])('a call rejected for load, for %d ms, gets 503 and Retry-After: %s', async (retryAfterMs, seconds) => {
    await using handler = await serve(refusing({ reason: 'overloaded', retryAfterMs }))
    const { status, headers, body } = await handler.send(callTool)
    expect([status, headers.get('retry-after')]).toEqual([503, seconds])
    expect(JSON.parse(body).error).toMatchObject({ code: errorCodes.internal, data: { reason: 'overloaded' } })
  })

  test('a call that needs an unreachable part gets 503 and Retry-After [UNA-001]', async () => {
    await using handler = await serve(refusing({ reason: 'unavailable', retryAfterMs: 1500, begun: false }))
    const { status, headers, body } = await handler.send(callTool)
    expect([status, headers.get('retry-after')]).toEqual([503, '2'])
    expect(JSON.parse(body).error.data).toEqual({ reason: 'unavailable', retryAfterMs: 1500, begun: false })
  })

  test.each([
    [{ retryAfterMs: 1500 }, '2'],
    [{}, null],
  ])('a call beyond a quota of its caller, with %j, gets 429 and Retry-After: %s', async (more, seconds) => {
    await using handler = await serve(refusing({ reason: 'quota', limit: 'calls', max: 1, ...more }))
    const { status, headers, body } = await handler.send(callTool)
    expect([status, headers.get('retry-after')]).toEqual([429, seconds])
    expect(JSON.parse(body).error).toMatchObject({ data: { reason: 'quota', limit: 'calls' } })
  })

  test.each([
    ['no data', undefined, errorCodes.internal, 200],
    ['another reason', { reason: 'other', retryAfterMs: 1 }, errorCodes.internal, 200],
    ['a time that is none', { reason: 'overloaded', retryAfterMs: -1 }, errorCodes.internal, 200],
    ['another code', { reason: 'overloaded', retryAfterMs: 1 }, errorCodes.invalidParams, 400],
  ])('an error with %s is no rejection for load', async (_title, data, code, expected) => {
    await using handler = await serve(refusing(data, code))
    const { status, headers } = await handler.send(callTool)
    expect([status, headers.get('retry-after')]).toEqual([expected, null])
  })

  test.each([
    ['asks for the retry alone', 'close', { resultType: 'input_required', requestState: 's' }],
    [
      'asks the user something',
      'keep-alive',
      { resultType: 'input_required', requestState: 's', inputRequests: { a: { method: 'roots/list' } } },
    ],
    ['is complete', 'keep-alive', { resultType: 'complete' }],
  ])('with an answer that %s, the connection says %s', async (_title, connection, result: JsonObject) => {
    await using handler = await serve(async (request) => ({ ...resultOf(request), result }))
    const { status, headers } = await handler.send({
      ...callTool,
      headers: { ...callTool.headers, connection: 'keep-alive' },
    })
    // What a web response says of its connection is the platform's own affair.
    expect([status, headers.get('connection')]).toEqual([200, name === 'nodeHandler' ? connection : null])
  })

  test('every call may move to another instance', async () => {
    let canHandOff: boolean | undefined
    await using handler = await serve((request, call) => {
      canHandOff = call.context.get(canHandOffKey)
      return echo(request, call)
    })
    await handler.send(callTool)
    expect(canHandOff).toBe(true)
  })
})
