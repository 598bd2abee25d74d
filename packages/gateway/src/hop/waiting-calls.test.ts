import { createCall } from '@x/exchange'
import { expect, test } from 'vitest'
import { proxy } from '../index.ts'
import { createScriptedUpstream, createToolCall, olderOverHttp } from '../testing/scripted-upstream.ts'

test('a call that meets the limit of waiting calls with its question is not said to have had no effect', async () => {
  let asked = 0
  const upstream = createScriptedUpstream({
    peer: olderOverHttp,
    answer: async ({ request: { id } }) => {
      asked += 1
      const requestState = `state-${asked}`
      return { jsonrpc: '2.0', id, result: { resultType: 'input_required', inputRequests: {}, requestState } }
    },
  })
  const server = proxy(upstream, { name: 'crm', version: '1.0.0', log: () => {} })
  for (let count = 0; count < 100; count += 1)
    expect(await server.exchange(createToolCall(), createCall())).toHaveProperty('result')
  expect(await server.exchange(createToolCall(), createCall())).toMatchObject({
    error: {
      message: expect.stringContaining('This request may have had an effect'),
      data: { reason: 'quota', limit: 'waiting_calls', max: 100, begun: true },
    },
  })
  expect(asked).toBe(101)
  await server.close()
})
