import type { Call, Exchange, RpcResponse } from '@x/schema'
import { expect, test } from 'vitest'
import { readInstance, signResults } from './instance-meta.ts'

const request = { jsonrpc: '2.0', id: 1, method: 'tools/list' } as const
const call: Call = { signal: new AbortController().signal, notify() {} }
const instance = { id: 2, pid: 99 }

test('a result says which instance gave it, and keeps the rest of its _meta', async () => {
  const exchange: Exchange = async () => ({ jsonrpc: '2.0', id: 1, result: { tools: [], _meta: { 'a/b': 1 } } })
  const response = await signResults(exchange, instance)(request, call)
  expect(response).toMatchObject({ result: { tools: [], _meta: { 'a/b': 1, 'dev.x/instance': instance } } })
  expect(readInstance(response)).toEqual(instance)
})

test('an error stays as it is', async () => {
  const answer: RpcResponse = { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no' } }
  const response = await signResults(async () => answer, instance)(request, call)
  expect(response).toBe(answer)
  expect(readInstance(response)).toBeUndefined()
})

test.each([
  {},
  { _meta: null },
  { _meta: { 'dev.x/instance': 2 } },
  { _meta: { 'dev.x/instance': { id: '2', pid: 1 } } },
])('the result %j does not say who gave it', (result) => {
  expect(readInstance({ jsonrpc: '2.0', id: 1, result })).toBeUndefined()
})
