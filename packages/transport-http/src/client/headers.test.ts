import fc from 'fast-check'
import { callHeadersKey, headerParamsKey, withContext } from '@x/exchange'
import { decodeHeaderValue } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { callWith, rpcRequest } from '../testing/scripted-server.ts'
import { createRequestHeaders, flattenUserHeaders } from './headers.ts'

const headersOf = (flat: readonly string[]): Map<string, string> => {
  const headers = new Map<string, string>()
  for (let index = 0; index < flat.length; index += 2) headers.set(flat[index] ?? '', flat[index + 1] ?? '')
  return headers
}

describe('The headers of a request', () => {
  test.each([
    ['tools/call', { name: 'greet' }, 'greet'],
    ['prompts/get', { name: 'review' }, 'review'],
    ['resources/read', { uri: 'file:///a b' }, 'file:///a b'],
    ['tools/call', { name: '世界' }, '=?base64?5LiW55WM?='],
    ['tools/call', { name: ' padded ' }, '=?base64?IHBhZGRlZCA=?='],
    ['tools/call', { name: 'a\r\nx-evil: 1' }, `=?base64?${btoa('a\r\nx-evil: 1')}?=`],
    ['tools/list', { name: 'no name here' }, undefined],
    ['x/unknown', { name: 'nor here' }, undefined],
  ])('%s with %j is named %s [SHT-034 SHT-035]', (method, params, expected) => {
    expect(headersOf(createRequestHeaders(rpcRequest(method, params), callWith(), [])).get('mcp-name')).toBe(expected)
  })

  test('encode any name on one line, from which it can be decoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const header =
          headersOf(createRequestHeaders(rpcRequest('tools/call', { name }), callWith(), [])).get('mcp-name') ?? ''
        expect(header).not.toMatch(/[\r\n\0]/)
        expect(decodeHeaderValue(header)).toBe(name)
      }),
    )
  })

  test('repeat what an exchange around the connection says, before the headers of the user', () => {
    const headers = new Map([['Mcp-Note', 'x']])
    expect(
      createRequestHeaders(rpcRequest(), withContext(callWith(), callHeadersKey, headers), ['x-mine', 'y']).slice(-4),
    ).toEqual(['mcp-note', 'x', 'x-mine', 'y'])
  })

  test.each(['X-Note', 'Authorization', 'Mcp-A: b\r\nc', ''])('repeat nothing under the name %j', (name) => {
    const headers = new Map([[name, 'x']])
    expect(() => createRequestHeaders(rpcRequest(), withContext(callWith(), callHeadersKey, headers), [])).toThrow(
      'not a header that an exchange may write',
    )
  })

  test.each(['MCP-Protocol-Version', 'mcp-method', 'Mcp-Name', 'Mcp-Param-A'])(
    'leave out %s of a forwarded request, which the transport writes itself',
    (name) => {
      const call = withContext(callWith(), callHeadersKey, new Map([[name, 'x']]))
      expect(createRequestHeaders(rpcRequest(), call, [])).toEqual(createRequestHeaders(rpcRequest(), callWith(), []))
    },
  )

  test.each([
    [
      'a repeated value',
      () =>
        createRequestHeaders(rpcRequest(), withContext(callWith(), callHeadersKey, new Map([['Mcp-A', 'b\nc']])), []),
    ],
    ['a method', () => createRequestHeaders(rpcRequest('tools\r\nx: y', {}), callWith(), [])],
    [
      'a header parameter',
      () => createRequestHeaders(rpcRequest(), withContext(callWith(), headerParamsKey, new Map([['A', 'b\nc']])), []),
    ],
    [
      'a name of a header parameter',
      () =>
        createRequestHeaders(rpcRequest(), withContext(callWith(), headerParamsKey, new Map([['A: b\r\nc', 'd']])), []),
    ],
  ])('cannot be broken by %s', (_title, build) => {
    expect(build).toThrow(TypeError)
  })
})

describe('Mcp-Name', () => {
  const given = withContext(callWith(), callHeadersKey, new Map([['Mcp-Name', 'task-1']]))

  test('is written by an exchange for a method of an extension [TSK-048]', () => {
    const headers = createRequestHeaders(rpcRequest('tasks/get', {}), given, [])
    expect(headers[headers.indexOf('mcp-name') + 1]).toBe('task-1')
  })

  test('is always the one of the request for a method of the protocol', () => {
    const headers = createRequestHeaders(rpcRequest('tools/call', { name: 'greet' }), given, [])
    expect(headers.filter((_, index) => headers[index - 1] === 'mcp-name')).toEqual(['greet'])
  })
})

describe('Headers of the user', () => {
  test.each([
    'Accept',
    'content-type',
    'Content-Length',
    'Host',
    'Transfer-Encoding',
    'MCP-Protocol-Version',
    'mcp-method',
    'MCP-NAME',
    'Mcp-Param-Region',
  ])('cannot replace %s', (name) => {
    expect(() => flattenUserHeaders({ [name]: 'x' })).toThrow(`The header ${name} is written by the transport`)
  })

  test.each([
    ['a line end in a value', { authorization: 'Bearer topsecret\r\nx-evil: 1' }],
    ['a null byte in a value', { authorization: 'topsecret\0' }],
    ['a character outside Latin-1', { authorization: 'topsecret世' }],
    ['a space before a value', { authorization: ' topsecret' }],
  ])('are refused with %s, without showing it', (_title, headers) => {
    const refuse = (): unknown => flattenUserHeaders(headers)
    expect(refuse).toThrow(/header authorization/)
    expect(refuse).not.toThrow(/topsecret/)
  })

  test.each(['', 'a b', 'a:b', 'a\r\nb', 'ä'])('are refused under the name %j', (name) => {
    expect(() => flattenUserHeaders({ [name]: 'x' })).toThrow('not an HTTP token')
  })

  test('are sent as they are otherwise', () => {
    expect(flattenUserHeaders({ 'X-Api-Key': 'k', Authorization: 'Bearer a.b-c' })).toEqual([
      'x-api-key',
      'k',
      'authorization',
      'Bearer a.b-c',
    ])
  })
})
