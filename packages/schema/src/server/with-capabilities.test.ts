import { expect, test } from 'vitest'
import type { Call, Exchange } from '../basic/exchange.ts'
import type { JsonObject } from '../basic/json.ts'
import { withCapabilities } from './with-capabilities.ts'

const call: Call = { signal: new AbortController().signal, notify: () => {} }
const request = (method: string) => ({ jsonrpc: '2.0', id: 1, method }) as const
const declaring = (capabilities: JsonObject): Exchange => {
  const result = { resultType: 'complete', capabilities }
  return async ({ id }) => ({ jsonrpc: '2.0', id, result })
}
const declaredBy = async (exchange: Exchange): Promise<unknown> => {
  const response = await exchange(request('server/discover'), call)
  return 'result' in response ? response.result.capabilities : response
}

test.each<[string, JsonObject, JsonObject]>([
  ['a capability that the server has not', { tools: {} }, { tools: {}, notes: {}, extensions: { 'a/b': { x: 1 } } }],
  ['one that it has', { notes: { old: true } }, { notes: { old: true }, extensions: { 'a/b': { x: 1 } } }],
  ['an extension', { extensions: { 'a/c': {}, 'a/b': {} } }, { extensions: { 'a/c': {}, 'a/b': { x: 1 } }, notes: {} }],
])('%s is declared with what the server declares', async (_title, inner, expected) => {
  const more = { notes: {}, extensions: { 'a/b': { x: 1 } } }
  expect(await declaredBy(withCapabilities(declaring(inner), more))).toEqual(expected)
})

test('the answer is made once for each that the server gives, and all others pass as they are', async () => {
  const inner = declaring({ tools: {} })
  const wrapped = withCapabilities(inner, { notes: {} })
  expect(await declaredBy(wrapped)).toBe(await declaredBy(wrapped))
  const passed = await wrapped(request('tools/list'), call)
  expect(passed).toEqual(await inner(request('tools/list'), call))
})

test('an error stays an error', async () => {
  const error = { code: -32603, message: 'Internal error' }
  const refusing: Exchange = async ({ id }) => ({ jsonrpc: '2.0', id, error })
  const failing = withCapabilities(refusing, { notes: {} })
  expect(await failing(request('server/discover'), call)).toEqual({ jsonrpc: '2.0', id: 1, error })
})
