import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyText } from '../testing/any-text.ts'
import { createCallText, errorOf, refusalOf } from '../testing/refusal.ts'
import { encodeMessage } from './encode-message.ts'
import { errorCodes, errorResponse } from '../basic/mcp-error.ts'
import {
  isErrorResponse,
  isNotification,
  isRequest,
  isResponse,
  parseMessage,
  parseRequestOrNotification,
  rejectedRequestIdOf,
} from './parse-message.ts'
import type { RpcMessage } from '../basic/rpc.ts'

describe('a message', () => {
  test.each([
    ['a request with a string id [BAS-003]', { jsonrpc: '2.0', id: '', method: 'x' }, isRequest],
    ['a request with an integer id [BAS-003]', { jsonrpc: '2.0', id: -3, method: 'x', params: {} }, isRequest],
    ['a notification', { jsonrpc: '2.0', method: 'x', params: { a: 1 } }, isNotification],
    ['a result', { jsonrpc: '2.0', id: 1, result: {} }, isResponse],
    ['an error', { jsonrpc: '2.0', id: 'a', error: { code: -32600, message: '', data: [null] } }, isErrorResponse],
    ['an error without an id', { jsonrpc: '2.0', error: { code: 1, message: 'x' } }, isErrorResponse],
  ])('%s is read as it is', (_, message, is) => {
    const parsed = parseMessage(JSON.stringify(message))
    expect(parsed).toEqual(message)
    expect(is(parsed)).toBe(true)
  })

  test('is exactly one of a request, a notification and a response', () => {
    const texts = ['"id":1,"method":"x"', '"method":"x"', '"id":1,"result":{}', '"error":{"code":1,"message":""}']
    const kinds = texts.map((text) => {
      const message = parseMessage(`{"jsonrpc":"2.0",${text}}`)
      return [isRequest(message), isNotification(message), isResponse(message), isErrorResponse(message)]
    })
    expect(kinds).toEqual([
      [true, false, false, false],
      [false, true, false, false],
      [false, false, true, false],
      [false, false, true, true],
    ])
  })

  test('keeps unknown members, and ignores them', () => {
    expect(parseMessage(createCallText(',"trace":"x"'))).toEqual({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      trace: 'x',
    })
  })

  test('that is an error with a null id, as plain JSON-RPC has it, is read as one without an id', () => {
    const error = { code: -32700, message: 'Parse error' }
    expect(parseMessage(JSON.stringify({ jsonrpc: '2.0', id: null, error }))).toEqual({ jsonrpc: '2.0', error })
  })
})

describe('JSON that is not a message is rejected with invalidRequest [BAS-002]', () => {
  test.each([
    ['a string', '"x"', 'The message must be a JSON object', undefined],
    ['null', 'null', 'The message must be a JSON object', undefined],
    ['a batch', `[${createCallText('')}]`, 'batches do not exist', undefined],
    ['an empty batch', '[]', 'batches do not exist', undefined],
    ['no jsonrpc', '{"id":7,"method":"x"}', 'jsonrpc must be "2.0"', 7],
    ['another jsonrpc', '{"jsonrpc":"1.0","id":7,"method":"x"}', 'jsonrpc must be "2.0"', 7],
    ['a number for jsonrpc', '{"jsonrpc":2.0,"id":7,"method":"x"}', 'jsonrpc must be "2.0"', 7],
    ['neither method nor answer', '{"jsonrpc":"2.0","id":7}', 'exactly one of', 7],
    ['a method and a result', createCallText(',"result":{}'), 'exactly one of', 7],
    ['a method and an error', createCallText(',"error":{"code":1,"message":""}'), 'exactly one of', 7],
    ['a result and an error', '{"jsonrpc":"2.0","id":7,"result":{},"error":{}}', 'exactly one of', 7],
    ['a method that is no string', '{"jsonrpc":"2.0","id":7,"method":["x"]}', 'method must be a string', 7],
    ['params that are an array', createCallText(',"params":[]'), 'params must be an object', 7],
    ['params that are null', createCallText(',"params":null'), 'params must be an object', 7],
    ['a result that is no object', '{"jsonrpc":"2.0","id":7,"result":[]}', 'result must be an object', 7],
    ['a result without an id', '{"jsonrpc":"2.0","result":{}}', 'id must be', undefined],
    ['an error that is no object', '{"jsonrpc":"2.0","id":7,"error":"x"}', 'error must be an object', 7],
    ['a fraction for a code', '{"jsonrpc":"2.0","id":7,"error":{"code":1.5,"message":""}}', 'error.code must be', 7],
    [
      'a fraction for the id of an error',
      '{"jsonrpc":"2.0","id":1.5,"error":{"code":1,"message":""}}',
      'id must be',
      undefined,
    ],
    ['no error message', '{"jsonrpc":"2.0","id":7,"error":{"code":1}}', 'error.message must be', 7],
  ])('%s', (_, text, message, id) => {
    expect(refusalOf(text)).toEqual({ code: errorCodes.invalidRequest, message: expect.stringContaining(message), id })
  })

  test.each(['null', '1.5', '9007199254740992', '1e400', 'true', '[1]', '{}'])(
    'the id %s of a request [BAS-003 BAS-004]',
    (id) => {
      const refusal = refusalOf(`{"jsonrpc":"2.0","id":${id},"method":"x"}`)
      expect(refusal).toEqual({
        code: errorCodes.invalidRequest,
        message: expect.stringContaining('id must be'),
        id: undefined,
      })
    },
  )
})

describe('a text that is not JSON is refused with parse', () => {
  test.each([
    ['nothing', ''],
    ['half a message', '{"jsonrpc":"2.0","id":1'],
    ['an open string', '{"jsonrpc":"2.0","id":"1'],
    ['a string that ends in a backslash', '{"a":"\\'],
    ['two messages', '{} {}'],
    ['a closing brace too many', '{}}'],
    ['mismatched brackets', '{"a":[}'],
    ['single quotes', "{'jsonrpc':'2.0'}"],
    ['a comment', '{/* */}'],
    ['NaN', '{"a":NaN}'],
    ['a raw newline in a string', '{"a":"\n"}'],
    ['an escape that does not exist in a key', '{"params\\x":{}}'],
    ['an escape that does not exist', '{"params":{"\\x":1}}'],
  ])('%s', (_, text) => {
    expect(refusalOf(text)).toEqual({ code: errorCodes.parse, message: 'The message is not JSON', id: undefined })
  })

  test('a byte order mark in front, which JSON texts do not have', () => {
    expect(refusalOf(`\ufeff${createCallText('')}`)).toMatchObject({
      code: errorCodes.parse,
      message: expect.stringContaining('byte order mark'),
    })
  })

  test('without repeating anything of the text', () => {
    expect(refusalOf('{"token":"secret-value"').message).not.toContain('secret')
  })
})

describe('hostile names', () => {
  test('__proto__ and constructor are plain keys and change no object', () => {
    const text = createCallText(
      ',"params":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}},"__proto__":{}',
    )
    const message = parseMessage(text)
    expect(Object.keys(message)).toContain('__proto__')
    expect(Object.getPrototypeOf(message)).toBe(Object.prototype)
    expect('polluted' in {}).toBe(false)
  })

  test('a method or an id under __proto__ is ignored', () => {
    expect(refusalOf('{"jsonrpc":"2.0","__proto__":{"id":1,"method":"x"}}').message).toContain('exactly one of')
  })

  test('half a surrogate pair is read as it came, and leaves as U+FFFD [ROB-005]', () => {
    const message = parseMessage(createCallText(',"params":{"a":"\\ud800"}'))
    expect(message).toMatchObject({ params: { a: '\ud800' } })
    expect(encodeMessage(message)).toBe(createCallText(',"params":{"a":"\ufffd"}'))
  })
})

test('an encoded message is parsed to an equal message', () => {
  const id = fc.oneof(anyText, fc.maxSafeInteger())
  const object = fc.dictionary(anyText, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true })
  const params = fc.record({ arguments: object, data: fc.jsonValue() }, { noNullPrototype: true })
  const head = { jsonrpc: fc.constant('2.0') }
  const error = { code: fc.maxSafeInteger(), message: fc.string(), data: fc.jsonValue() }
  const message = fc.oneof(
    fc.record({ ...head, id, method: fc.string(), params }, { requiredKeys: ['jsonrpc', 'id', 'method'] }),
    fc.record({ ...head, method: fc.string(), params }, { requiredKeys: ['jsonrpc', 'method'] }),
    fc.record({ ...head, id, result: object }),
    fc.record({ ...head, id, error: fc.record(error) }, { requiredKeys: ['jsonrpc', 'error'] }),
  )
  fc.assert(
    fc.property(message, (sent) => {
      const text = encodeMessage(sent as RpcMessage)
      expect(parseMessage(text)).toEqual(JSON.parse(text))
      expect(encodeMessage(parseMessage(text))).toBe(text)
    }),
  )
})

test('parsing any text returns a message or throws an McpError', () => {
  const json = fc.oneof(anyText, fc.json(), fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0 e1') }))
  fc.assert(
    fc.property(json, (text) => {
      const { code } = refusalOf(text)
      expect([errorCodes.parse, errorCodes.invalidRequest]).toContain(code)
    }),
  )
})

test.each([
  ['the id, where it could be read', '{"jsonrpc":"2.0","id":"a","method":7}', { id: 'a' }],
  ['no id, where it could not', '{"jsonrpc":"2.0","id":null,"method":"x"}', {}],
  ['no id, where nothing could be read', '{"jsonrpc":"2.0","id":"a"', {}],
])('a refusal is answered with %s [BAS-012]', (_, text, id) => {
  const error = errorOf(text)
  expect(errorResponse(rejectedRequestIdOf(error), error)).toEqual({
    jsonrpc: '2.0',
    ...id,
    error: { code: expect.any(Number), message: expect.any(String) },
  })
})

test('a side that asks nothing refuses responses and takes the rest', () => {
  expect(parseRequestOrNotification(createCallText(''))).toMatchObject({ method: 'tools/call' })
  expect(() => parseRequestOrNotification('{"jsonrpc":"2.0","id":1,"result":{}}')).toThrow('is a response')
})

test('an error that is not a refusal has no id', () => {
  expect([rejectedRequestIdOf(new Error('x')), rejectedRequestIdOf(undefined), rejectedRequestIdOf('x')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})
