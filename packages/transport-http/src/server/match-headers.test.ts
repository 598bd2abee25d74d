import fc from 'fast-check'
import { encodeHeaderValue, errorCodes, type JsonObject, metaKeys, protocolVersion } from '@x/schema'
import { describe, expect, test, vi } from 'vitest'
import { echo, testServer } from '../testing/exchanges.ts'
import { modernMeta, createPostRequest, type PostChanges } from '../testing/sent.ts'
import { serveFunctions } from '../testing/shells.ts'
import { checkHeadersMatchBody } from './check-request.ts'
import type { RequestView } from './http-adapter.ts'

const version = 'mcp-protocol-version'
const metaOf = (stated: string): JsonObject => ({ ...modernMeta, [metaKeys.protocolVersion]: stated })
const { headerMismatch, unsupportedProtocolVersion } = errorCodes

type Row = readonly [title: string, method: string, params: JsonObject, changes: PostChanges]

const mismatches: readonly Row[] = [
  ['no version header [SHT-032 SHT-074]', 'tools/list', {}, { headers: { [version]: null } }],
  ['another version in the header [SHT-029]', 'tools/list', {}, { headers: { [version]: '2025-11-25' } }],
  ['an unknown version in the header alone [SHT-029]', 'tools/list', {}, { headers: { [version]: '1900-01-01' } }],
  ['an unknown version in the body alone [SHT-029]', 'tools/list', {}, { meta: metaOf('1900-01-01') }],
  ['no Mcp-Method [SHT-074]', 'tools/list', {}, { headers: { 'mcp-method': null } }],
  ['another Mcp-Method [SHT-070]', 'tools/list', {}, { headers: { 'mcp-method': 'prompts/list' } }],
  ['Mcp-Method in another case [SHT-069 SHT-070]', 'tools/list', {}, { headers: { 'mcp-method': 'TOOLS/LIST' } }],
  ['no Mcp-Name [SHT-074]', 'tools/call', { name: 'a' }, { headers: { 'mcp-name': null } }],
  ['another Mcp-Name [SHT-070]', 'tools/call', { name: 'a' }, { headers: { 'mcp-name': 'b' } }],
  ['another name of a prompt [SHT-070]', 'prompts/get', { name: 'a' }, { headers: { 'mcp-name': 'b' } }],
  ['another URI [SHT-070]', 'resources/read', { uri: 'test://a' }, { headers: { 'mcp-name': 'test://b' } }],
  ['Mcp-Name without a name in the body [SHT-070]', 'tools/call', {}, { headers: { 'mcp-name': 'b' } }],
  ['bad Base64 in Mcp-Name [SHT-075]', 'tools/call', { name: 'a' }, { headers: { 'mcp-name': '=?base64?SGVsbG8?=' } }],
  ['no letters of Base64 [SHT-075]', 'tools/call', { name: 'a' }, { headers: { 'mcp-name': '=?base64?S*Vs?=' } }],
  [
    'an encoded name that is another [SHT-055]',
    'tools/call',
    { name: 'a' },
    { headers: { 'mcp-name': '=?base64?Yg==?=' } },
  ],
  ['characters beyond ASCII [SHT-075]', 'tools/call', { name: 'é' }, { headers: { 'mcp-name': 'é' } }],
  ['a repeated Mcp-Name [SHT-070]', 'tools/call', { name: 'a' }, { headers: { 'mcp-name': 'a, b' } }],
]

describe.each(serveFunctions)('%s', (_, serve) => {
  test.each(mismatches)('a request with %s', async (...[_title, method, params, changes]) => {
    const exchange = vi.fn(echo)
    await using handler = await serve(exchange)
    const received = await handler.send(createPostRequest(method, params, { id: 'x', ...changes }))
    const { id, error } = JSON.parse(received.body)
    expect([received.status, id, error.code]).toEqual([400, 'x', headerMismatch])
    expect(exchange).not.toHaveBeenCalled()
  })

  test.each<Row>([
    ['a name as it is', 'tools/call', { name: 'get_weather' }, {}],
    [
      'an encoded name [SHT-054 SHT-055]',
      'tools/call',
      { name: 'héé\r\n' },
      { headers: { 'mcp-name': '=?base64?aMOpw6kNCg==?=' } },
    ],
    [
      'a name that was encoded without need [SHT-055]',
      'tools/call',
      { name: 'a' },
      { headers: { 'mcp-name': '=?base64?YQ==?=' } },
    ],
    ['a name without the closing mark', 'tools/call', { name: '=?base64?YQ==' }, {}],
    ['whitespace around the name', 'tools/call', { name: 'a' }, { headers: { 'mcp-name': ' \ta\t ' } }],
    ['a URI', 'resources/read', { uri: 'file:///a%20b?c#d' }, {}],
    [
      'header names in another case [SHT-069]',
      'tools/list',
      {},
      { headers: { 'mcp-method': null, 'MCP-METHOD': 'tools/list' } },
    ],
    ['a name header that the method does not have', 'tools/list', {}, { headers: { 'mcp-name': 'x' } }],
    ['an unknown method', 'x/y', { name: 'a' }, { headers: { 'mcp-name': 'b' } }],
    [
      'a version that is unknown in both places, which the exchange checks',
      'tools/list',
      {},
      {
        meta: metaOf('1900-01-01'),
        headers: { [version]: '1900-01-01', 'mcp-method': null },
      },
    ],
    ['a missing _meta, which the exchange checks', 'tools/list', {}, { meta: null }],
    ['a _meta without a version, which the exchange checks', 'initialize', {}, { meta: {} }],
    ['a missing name, which the exchange checks', 'tools/call', {}, {}],
  ])('a request with %s is passed on', async (...[_title, method, params, changes]) => {
    await using handler = await serve(echo)
    expect((await handler.send(createPostRequest(method, params, changes))).status).toBe(200)
  })

  test.each<[string, string, string | null, number]>([
    [
      'initialize as clients of 2025-11-25 send it is refused [VER-001 VER-008]',
      'initialize',
      null,
      unsupportedProtocolVersion,
    ],
    [
      'a list under a header of 2025-11-25 is refused [VER-001]',
      'tools/list',
      '2025-11-25',
      unsupportedProtocolVersion,
    ],
    ['a ping without any header is refused [SHT-032]', 'ping', null, headerMismatch],
  ])('in words that name the version served here, %s', async (...[_title, method, old, code]) => {
    await using handler = await serve(echo)
    const headers = { [version]: old, 'mcp-method': null }
    const received = await handler.send(
      createPostRequest(method, { protocolVersion: '2025-11-25' }, { meta: null, headers }),
    )
    const { error } = JSON.parse(received.body)
    expect([received.status, error.code, error.data.supported]).toEqual([400, code, [protocolVersion]])
    expect(error.message).toContain(protocolVersion)
  })

  test('the refusal of another version says which was asked for [VER-001 SHT-030]', async () => {
    await using handler = await serve(echo)
    const sent = createPostRequest('tools/list', {}, { meta: null, headers: { [version]: '2025-06-18' } })
    expect(JSON.parse((await handler.send(sent)).body).error.data.requested).toBe('2025-06-18')
  })

  test('a notification needs no headers, but those that it has must match [SHT-014 SHT-070]', async () => {
    await using handler = await serve(echo)
    const body = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    const none = { [version]: null, 'mcp-method': null }
    const bare = await handler.send(createPostRequest('', {}, { body, headers: none }))
    const wrong = await handler.send(
      createPostRequest('', {}, { body, headers: { ...none, 'mcp-method': 'tools/list' } }),
    )
    expect([bare.status, wrong.status]).toEqual([202, 400])
    expect(JSON.parse(wrong.body)).toMatchObject({ error: { code: headerMismatch } })
    expect(JSON.parse(wrong.body)).not.toHaveProperty('id')
  })
})

test('an error shows no more than the beginning of a long header', () => {
  const view = viewOf({ [version]: protocolVersion, 'mcp-method': 'x'.repeat(9_000) })
  expect(() =>
    checkHeadersMatchBody(view, { jsonrpc: '2.0', id: 1, method: 'a', params: { _meta: modernMeta } }),
  ).toThrowError(expect.objectContaining({ message: expect.stringMatching(/^.{0,200}$/) }))
})

test('the encoding of every name matches it, and no other name does [SHT-055 SHT-063]', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (name, other) => {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, _meta: modernMeta } } as const
      const headers = { [version]: protocolVersion, 'mcp-method': 'tools/call' }
      checkHeadersMatchBody(viewOf({ ...headers, 'mcp-name': encodeHeaderValue(name) }), message)
      if (name === other) return
      expect(() =>
        checkHeadersMatchBody(viewOf({ ...headers, 'mcp-name': encodeHeaderValue(other) }), message),
      ).toThrow('Mcp-Name is')
    }),
  )
})

function viewOf(headers: Readonly<Record<string, string>>): RequestView {
  const map = new Map(Object.entries(headers))
  return {
    method: 'POST',
    url: '/mcp',
    source: undefined,
    header: (name) => map.get(name),
    headerValues: () => [],
    forEachHeader: (visit) => map.forEach(visit),
  }
}

describe.each(serveFunctions)('%s', (_, serve) => {
  test.each([
    ['no version', createPostRequest('tools/list', {}, { meta: null, headers: { [version]: null } })],
    [
      'a version that is not served',
      createPostRequest('tools/list', {}, { meta: null, headers: { [version]: '2024-11-05' } }),
    ],
    [
      'a handshake of an unknown version',
      createPostRequest('initialize', { protocolVersion: '2023-01-01' }, { meta: null, headers: { [version]: null } }),
    ],
    [
      'a method of HTTP',
      createPostRequest('tools/list', {}, { httpMethod: 'GET', headers: { [version]: '2024-11-05' } }),
    ],
  ])('an error about %s names the revisions of the adapter as well', async (_title, request) => {
    const revisions = ['2025-11-25', '2025-06-18']
    const http = { revisions, methods: [], exposedHeaders: [], matches: () => false, handle: () => false }
    await using handler = await serve(testServer(echo, { adapters: { http } }))
    const { error } = JSON.parse((await handler.send(request)).body)
    expect(error.data.supported).toEqual([protocolVersion, ...revisions])
    expect(error.message).toContain('2026-07-28, 2025-11-25, 2025-06-18')
  })
})
