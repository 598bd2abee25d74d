import { expect, test } from 'vitest'
import type { Call, Exchange } from './exchange.ts'
import { wrapExchange } from './wrap-exchange.ts'

const call: Call = { signal: new AbortController().signal, notify: () => {} }
const request = { jsonrpc: '2.0', id: 1, method: 'a/b' } as const

test('the exchange around answers, and everything else is as the inner one has it at the moment', async () => {
  let load = 1
  const answer: Exchange = async ({ id, method }) => ({ jsonrpc: '2.0', id, result: { method } })
  const server = Object.defineProperty(Object.assign(answer, { url: 'https://example.com' }), 'load', {
    get: () => load,
  })
  const wrapped = wrapExchange(server, (inner, given) => server({ ...inner, method: `${inner.method}!` }, given))
  expect(await wrapped(request, call)).toMatchObject({ result: { method: 'a/b!' } })
  expect(await server(request, call)).toMatchObject({ result: { method: 'a/b' } })
  expect(wrapped.url).toBe('https://example.com')
  load = 2
  expect(Reflect.get(wrapped, 'load')).toBe(2)
})
