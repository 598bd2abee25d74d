import { expect, test } from 'vitest'
import { callHeadersKey, createCall, withContext, withNotify, withHeader } from './call-context.ts'
import { contextKey } from './exchange.ts'
import { Cancellation, isCancelled, withSignalOf } from '@x/core'

test('withHeader returns a call with one more header, and does not change the given call', () => {
  const call = createCall()
  const one = withHeader(call, 'Mcp-One', 'a')
  const both = withHeader(one, 'Mcp-Two', 'b')
  const values: Record<string, string> = {}
  both.context.get(callHeadersKey)?.forEach((value, name) => (values[name] = value))
  expect(values).toEqual({ 'Mcp-One': 'a', 'Mcp-Two': 'b' })
  expect(one.context.get(callHeadersKey)?.get('Mcp-Two')).toBeUndefined()
  expect(call.context.get(callHeadersKey)).toBeUndefined()
})

test('a header replaces one of the same name in another case', () => {
  const call = withHeader(withHeader(createCall(), 'mcp-name', 'a'), 'Mcp-Name', 'b')
  const names: string[] = []
  call.context.get(callHeadersKey)?.forEach((value, name) => names.push(`${name}: ${value}`))
  expect(names).toEqual(['Mcp-Name: b'])
})

test('a derived call has the principal, the signal and the cancellation of the call that it derives from', () => {
  const cancellation = new Cancellation()
  const received: string[] = []
  const notify = ({ method }: { method: string }): void => void received.push(method)
  const { principal, context } = createCall({ principal: { subject: 'ada' } })
  const call = withSignalOf({ principal, context, notify }, cancellation)
  const key = contextKey<number>('com.example/number')
  const derived = withContext(withContext(call, key, 1), contextKey<string>('com.example/text'), 'x')
  expect([derived.principal, derived.context.get(key), isCancelled(derived)]).toEqual([{ subject: 'ada' }, 1, false])
  cancellation.cancel('enough')
  expect(isCancelled(derived)).toBe(true)
  expect(derived.signal.reason).toBe('enough')
  derived.notify({ jsonrpc: '2.0', method: 'a' })
  withNotify(derived, () => void received.push('other')).notify({ jsonrpc: '2.0', method: 'b' })
  expect(received).toEqual(['a', 'other'])
})
