import { errorCodes, metaKeys, protocolVersion } from '@x/schema'
import { createServer, resource, tool } from '@x/server'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { modernMeta, createPostRequest } from '../src/testing/sent.ts'
import type { PostChanges } from '../src/testing/sent.ts'
import { serveFunctions } from '../src/testing/shells.ts'

const region = z.string().optional().meta({ 'x-mcp-header': 'Region' })
const count = z.int().optional().meta({ 'x-mcp-header': 'Count' })
const server = createServer({
  name: 'demo',
  version: '1.0.0',
  tools: [
    tool('greet', {
      description: 'Greets',
      input: z.object({ name: z.string() }),
      run: ({ name }) => `Hello, ${name}!`,
    }),
    tool('place', { description: 'Places', input: z.object({ region, count }), run: (args) => JSON.stringify(args) }),
    tool('sample', { description: 'Asks', requires: { sampling: {} }, run: () => 'never' }),
    tool('count', {
      description: 'Counts',
      run: (_args, ctx) => {
        for (const step of [1, 2, 3]) ctx.progress(step, 3)
        return 'done'
      },
    }),
  ],
  resources: [resource('test://é', { name: 'é', read: () => 'text' })],
})

const greet = { name: 'greet', arguments: { name: 'World' } }
const place = (args: Record<string, string | number | null>) => ({ name: 'place', arguments: args })
const { invalidParams, methodNotFound, headerMismatch, unsupportedProtocolVersion } = errorCodes
const without = (key: string) => Object.fromEntries(Object.entries(modernMeta).filter(([name]) => name !== key))
const old = {
  meta: { ...modernMeta, [metaKeys.protocolVersion]: '1900-01-01' },
  headers: { 'mcp-protocol-version': '1900-01-01' },
}

describe.each(serveFunctions)('a server over %s', (_, serve) => {
  test.each<[string, string, Parameters<typeof createPostRequest>[1], PostChanges, number, number]>([
    ['no _meta [BAS-052 BAS-053]', 'tools/list', {}, { meta: null }, 400, invalidParams],
    [
      'no version in _meta [BAS-052 BAS-053]',
      'tools/list',
      {},
      { meta: without(metaKeys.protocolVersion) },
      400,
      invalidParams,
    ],
    [
      'no capabilities in _meta [BAS-052 BAS-053]',
      'tools/list',
      {},
      { meta: without(metaKeys.clientCapabilities) },
      400,
      invalidParams,
    ],
    ['an unknown version [VER-001 SHT-030]', 'tools/list', {}, old, 400, unsupportedProtocolVersion],
    ['an unknown method [SHT-031]', 'no/such', {}, {}, 404, methodNotFound],
    ['initialize [SHT-031]', 'initialize', {}, {}, 404, methodNotFound],
    ['ping [SHT-031]', 'ping', {}, {}, 404, methodNotFound],
    ['an unknown tool', 'tools/call', { name: 'none' }, {}, 400, invalidParams],
    ['a capability that the client lacks [BAS-057 BAS-058]', 'tools/call', { name: 'sample' }, {}, 400, -32021],
    [
      'an argument without its header [SHT-064 SHT-068]',
      'tools/call',
      place({ region: 'us' }),
      {},
      400,
      headerMismatch,
    ],
    [
      'an argument unlike its header [SHT-063 SHT-064]',
      'tools/call',
      place({ region: 'us' }),
      { headers: { 'mcp-param-region': 'eu' } },
      400,
      headerMismatch,
    ],
    [
      'a header in bad Base64 [SHT-062]',
      'tools/call',
      place({ region: 'us' }),
      { headers: { 'mcp-param-region': '=?base64?SGVsbG8?=' } },
      400,
      headerMismatch,
    ],
  ])('refuses a request with %s', async (...[_title, method, params, changes, status, code]) => {
    await using handler = await serve(server)
    const received = await handler.send(createPostRequest(method, params, { id: 'same', ...changes }))
    const { id, error } = JSON.parse(received.body)
    expect([received.status, id, error.code]).toEqual([status, 'same', code])
  })

  test('names the versions that it serves [VER-001]', async () => {
    await using handler = await serve(server)
    const { error } = JSON.parse((await handler.send(createPostRequest('tools/list', {}, old))).body)
    expect(error.data).toEqual({ supported: [protocolVersion], requested: '1900-01-01' })
  })

  test.each<[string, Parameters<typeof createPostRequest>[1], Record<string, string>]>([
    ['a plain header', place({ region: 'us' }), { 'mcp-param-region': 'us' }],
    ['an encoded header [SHT-054 SHT-056]', place({ region: 'é' }), { 'Mcp-Param-Region': '=?base64?w6k=?=' }],
    ['no header for an absent argument [SHT-067]', place({}), {}],
    ['an integer in other digits [SHT-071]', place({ count: 42 }), { 'mcp-param-count': '42.0' }],
    ['an unknown header [SHT-061]', greet, { 'mcp-param-other': 'x' }],
  ])('serves a tool call with %s', async (_title, params, headers) => {
    await using handler = await serve(server)
    const received = await handler.send(createPostRequest('tools/call', params, { headers }))
    expect([received.status, JSON.parse(received.body).error]).toEqual([200, undefined])
  })

  test('reads a resource whose URI must be encoded for the header [SHT-055]', async () => {
    await using handler = await serve(server)
    const headers = { 'mcp-name': '=?base64?dGVzdDovL8OpIA==?=' }
    const wrong = await handler.send(createPostRequest('resources/read', { uri: 'test://é' }, { headers }))
    const right = await handler.send(
      createPostRequest('resources/read', { uri: 'test://é' }, { headers: { 'mcp-name': '=?base64?dGVzdDovL8Op?=' } }),
    )
    expect([wrong.status, right.status]).toEqual([400, 200])
  })

  test('streams the progress that was asked for, and nothing else [SHT-017 SHT-018 SHT-019]', async () => {
    await using handler = await serve(server)
    const asked = await handler.send(
      createPostRequest('tools/call', { name: 'count' }, { meta: { ...modernMeta, progressToken: 7 } }),
    )
    const unasked = await handler.send(createPostRequest('tools/call', { name: 'count' }))
    const messages = asked.body
      .split('\n\n')
      .filter((event) => event !== '')
      .map((event) => JSON.parse(event.slice(6)))
    expect(messages.map(({ method, params, id }) => [method, params?.progress, id])).toEqual([
      ['notifications/progress', 1, undefined],
      ['notifications/progress', 2, undefined],
      ['notifications/progress', 3, undefined],
      [undefined, undefined, 1],
    ])
    expect(unasked.headers.get('content-type')).toBe('application/json')
  })
})
