import { expect, test, vi } from 'vitest'
import { encodeMessage, encodePieces, prepareResult } from './encode-message.ts'

test.each([
  ['a request', { jsonrpc: '2.0', id: 1, method: 'x', params: { a: [1, null] } }],
  ['a notification', { jsonrpc: '2.0', method: 'x' }],
  ['a result', { jsonrpc: '2.0', id: 'a"b', result: { resultType: 'complete' } }],
  ['an error', { jsonrpc: '2.0', error: { code: 1, message: 'line\nline' } }],
] as const)('%s is one line of JSON', (_, message) => {
  const text = encodeMessage(message)
  expect(JSON.parse(text)).toEqual(message)
  expect(text).not.toContain('\n')
})

test('members that are undefined are left out', () => {
  expect(encodeMessage({ jsonrpc: '2.0', id: 1, method: 'x', params: undefined })).toBe(
    '{"jsonrpc":"2.0","id":1,"method":"x"}',
  )
})

test('a prepared result is written as any other, and only once', () => {
  const result = prepareResult({ resultType: 'complete', tools: [{ name: 'a' }] })
  const first = encodeMessage({ jsonrpc: '2.0', id: 'a"b', result })
  expect(first).toBe(JSON.stringify({ jsonrpc: '2.0', id: 'a"b', result }))
  const stringify = vi.spyOn(JSON, 'stringify')
  const second = encodeMessage({ jsonrpc: '2.0', id: 2, result })
  const written = stringify.mock.calls.map(([value]) => value)
  stringify.mockRestore()
  expect(written).toEqual([2])
  expect(second).toBe(first.replace('"a\\"b"', '2'))
})

test('a prepared result cannot be changed any more, at no depth', () => {
  const result = prepareResult({ resultType: 'complete', tools: [{ name: 'a' }] })
  expect(() => {
    const [tool] = result.tools
    if (tool !== undefined) tool.name = 'b'
  }).toThrow(TypeError)
  expect(() => result.tools.push({ name: 'b' })).toThrow(TypeError)
})

test('preparing twice, or a result that was frozen before, keeps it prepared', () => {
  const result = prepareResult(prepareResult(Object.freeze({ tools: Object.freeze([]) })))
  expect(encodeMessage({ jsonrpc: '2.0', id: 1, result })).toBe('{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}')
})

test('two results that are alike do not share their text', () => {
  const one = prepareResult({ a: 1 })
  encodeMessage({ jsonrpc: '2.0', id: 1, result: one })
  expect(encodeMessage({ jsonrpc: '2.0', id: 1, result: { a: 1, b: 2 } })).toContain('"b":2')
})

test.each([[1], ['a"b'], ['é\u2028😀']])(
  'the pieces of a large prepared result, with the id %j, make up its text',
  (id) => {
    const result = prepareResult({ resultType: 'complete', text: 'é'.repeat(20_000) })
    const pieces = encodePieces({ jsonrpc: '2.0', id, result })
    expect(pieces?.head).toMatch(/^[\x20-\x7e]*$/)
    const text = `${pieces?.head}${new TextDecoder().decode(pieces?.result)}${pieces?.tail}`
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id, result })
    expect(encodePieces({ jsonrpc: '2.0', id: 2, result })?.result).toBe(pieces?.result)
  },
)

test.each([
  ['a result that was not prepared', { jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(20_000) } }],
  ['a small one', { jsonrpc: '2.0', id: 1, result: prepareResult({ text: 'x' }) }],
  ['a request', { jsonrpc: '2.0', id: 1, method: 'x' }],
] as const)('%s has no pieces', (_, message) => {
  expect(encodePieces(message)).toBeUndefined()
})
