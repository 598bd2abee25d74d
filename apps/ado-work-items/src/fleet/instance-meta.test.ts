import { createCall, type Exchange } from '@x/exchange'
import type { RpcResponse } from '@x/schema'
import { expect, test } from 'vitest'
import { readInstance, signProgress, signResults } from './instance-meta.ts'

const request = { jsonrpc: '2.0', id: 1, method: 'tools/list' } as const
const call = createCall()
const instance = { id: 2, pid: 99 }

test('a result says which instance gave it, and keeps the rest of its _meta', async () => {
  const exchange: Exchange = async () => ({ jsonrpc: '2.0', id: 1, result: { tools: [], _meta: { 'a/b': 1 } } })
  const response = await signResults(instance)(exchange)(request, call)
  expect(response).toMatchObject({ result: { tools: [], _meta: { 'a/b': 1, 'dev.x/instance': instance } } })
  expect(readInstance(response)).toEqual(instance)
})

test('an error is not changed', async () => {
  const answer: RpcResponse = { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no' } }
  const response = await signResults(instance)(async () => answer)(request, call)
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

test('progress says which instance makes it, and other messages are not changed', async () => {
  const heard: unknown[] = []
  const exchange: Exchange = async (_, { notify }) => {
    for (const method of ['notifications/progress', 'notifications/message'])
      notify({ jsonrpc: '2.0', method, params: { message: 'half' } })
    notify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } })
    return { jsonrpc: '2.0', id: 1, result: {} }
  }
  const signed = signProgress(instance).middleware?.(exchange)
  await signed?.(request, createCall({ notify: ({ params }) => void heard.push(params) }))
  expect(heard).toEqual([{ message: 'half (instance 2)' }, { message: 'half' }, { progress: 1 }])
})
