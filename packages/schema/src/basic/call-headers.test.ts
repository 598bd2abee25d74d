import { expect, test } from 'vitest'
import { withHeader } from './call-headers.ts'
import type { Call } from './exchange.ts'

test('each exchange adds a header of its own to those that the call has, and the call stays as it was', () => {
  const call: Call = { signal: new AbortController().signal, notify: () => {} }
  const one = withHeader(call, 'Mcp-One', '1')
  const both = withHeader(one, 'Mcp-Two', '2')
  const seen: string[] = []
  both.headers?.().forEach((value, name) => void seen.push(`${name}: ${value}`))
  expect(seen).toEqual(['Mcp-One: 1', 'Mcp-Two: 2'])
  expect([one.headers?.().get('Mcp-Two'), call.headers]).toEqual([undefined, undefined])
})
