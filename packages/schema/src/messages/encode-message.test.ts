import type { Log } from '@x/core'
import { describe, expect, test, vi } from 'vitest'
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

test('a prepared result is frozen at every depth', () => {
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

const half = '🛠'.slice(0, 1)

describe('half of a surrogate pair', () => {
  test.each([
    ['text of a result', { jsonrpc: '2.0', id: 1, result: { text: `a${half}` } }],
    ['a key', { jsonrpc: '2.0', id: 1, result: { [`a${half}`]: 1 } }],
    ['the later half', { jsonrpc: '2.0', id: 1, result: { text: '🛠'.slice(1) } }],
    ['two halves in the wrong order', { jsonrpc: '2.0', method: 'x', params: { text: '\uDE00\uD83D' } }],
    ['an error', { jsonrpc: '2.0', error: { code: 1, message: half } }],
    ['an id', { jsonrpc: '2.0', id: half, result: prepareResult({}) }],
    ['a prepared result', { jsonrpc: '2.0', id: 1, result: prepareResult({ [half]: half }) }],
    ['text behind a backslash', { jsonrpc: '2.0', method: 'x', params: { text: `\\${half}\\\\${half}` } }],
  ] as const)('in %s becomes U+FFFD, which is logged once [ROB-005]', (_, message) => {
    const log = vi.fn<Log>()
    const expected = JSON.stringify(message).replaceAll(/(?<!\\)((?:\\\\)*)\\ud[89a-f]../g, '$1\uFFFD')
    expect([encodeMessage(message, log), encodeMessage(message, log)]).toEqual([expected, expected])
    expect(expected).toContain('\uFFFD')
    expect(log.mock.calls).toMatchObject([[{ level: 'warn', code: 'lone_surrogate' }]])
  })

  test('makes no key occur twice', () => {
    const message = { jsonrpc: '2.0', method: 'x', params: { '\uD800': 1, '\uD801': 2 } } as const
    expect(encodeMessage(message, () => {})).toBe('{"jsonrpc":"2.0","method":"x","params":{"\uFFFD":2}}')
  })

  test('is not what whole pairs and text such as C:\\udemy are', () => {
    const message = { jsonrpc: '2.0', method: 'x', params: { text: '🛠 C:\\ud83d \\\\ud800 \u0001' } } as const
    const log = vi.fn<Log>()
    expect(encodeMessage(message, log)).toBe(JSON.stringify(message))
    expect(log).not.toHaveBeenCalled()
  })

  test('is written as U+FFFD in the pieces of a large result too', () => {
    const result = prepareResult({ text: half + 'x'.repeat(20_000) })
    const pieces = encodePieces({ jsonrpc: '2.0', id: half, result }, () => {})
    const text = `${pieces?.head}${new TextDecoder().decode(pieces?.result)}${pieces?.tail}`
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id: '\uFFFD', result: { text: `\uFFFD${'x'.repeat(20_000)}` } })
    expect(text).not.toMatch(/\\ud/)
  })
})
