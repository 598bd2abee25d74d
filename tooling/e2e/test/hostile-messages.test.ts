import { type JsonObject, metaKeys } from '@x/schema'
import { createServer, prompt, resourceTemplate, type McpServer, tool } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { keys, stateWith } from './asking.ts'
import { overEveryRawTransport } from './over-every-raw-transport.ts'
import type { MessageHeaders, RawTransport } from './raw-transport.ts'

const meta = `"_meta":{"${metaKeys.protocolVersion}":"2026-07-28","${metaKeys.clientCapabilities}":{}}`
const call = (args: string, more = ''): string =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":${args},${meta}${more}}}`
const list = (more: string): string => `{"jsonrpc":"2.0","method":"tools/list"${more},"params":{${meta}}}`
const toEcho: MessageHeaders = { method: 'tools/call', name: 'echo' }
const toList: MessageHeaders = { method: 'tools/list' }

/** Creates a server that records the inputs of its handlers. */
function createTarget(): { readonly server: McpServer; readonly received: unknown[]; readonly errors: unknown[] } {
  const [received, errors]: [unknown[], unknown[]] = [[], []]
  const record = <T>(value: T): T => {
    received.push(value)
    return value
  }
  const server = createServer({
    name: 'target',
    version: '1.0.0',
    tools: [
      tool('echo', {
        description: 'Returns its input',
        input: z.looseObject({ text: z.string().optional() }),
        run: (input) => JSON.stringify(record(input)),
      }),
    ],
    prompts: [prompt('poem', { input: z.object({ about: z.string() }), run: ({ about }) => record(about) })],
    resourceTemplates: [
      resourceTemplate('docs://{+path}', { name: 'docs', read: ({ path }) => record(path) }),
      resourceTemplate('x://{a}-{b}-{c}-{d}-{e}', { name: 'parts', read: (variables) => JSON.stringify(variables) }),
    ],
    state: stateWith(keys.first),
    log: ({ err }) => void errors.push(err),
  })
  return { server, received, errors }
}

/** Asserts that the server still responds and that no prototype was modified. */
async function expectServing(transport: RawTransport): Promise<void> {
  const answer = await transport.request(call('{"text":"still here"}'), toEcho)
  expect(answer).toMatchObject({ id: 7, result: { content: [{ text: '{"text":"still here"}' }] } })
  expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('admin')
}

const parse = -32700
const invalidRequest = -32600
const invalidParams = -32602
const fourMebibytes = 4 * 1024 * 1024
const repeat = (text: string, bytes: number): string => text.repeat(Math.floor(bytes / text.length))
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}0${'}'.repeat(depth)}`
const messageOf = (size: number, inside: (room: number) => string): string => inside(size - call('').length)

const invalidMessages: readonly (readonly [string, string, number])[] = [
  ['4 MiB of [0,0,…] (CVE-2026-111768)', `[${repeat('0,', fourMebibytes - 4)}0]`, parse],
  ['4 MiB of [0,0,…] for arguments', call(messageOf(fourMebibytes, (room) => `[${repeat('0,', room - 4)}0]`)), parse],
  ['4 MiB of empty objects', call(messageOf(fourMebibytes, (room) => `{"a":[${repeat('{},', room - 16)}{}]}`)), parse],
  ['4 MiB of members', call(messageOf(fourMebibytes, (room) => `{${repeat('"a":0,', room - 16)}"a":0}`)), parse],
  ['100,000 nested objects', call(nested(100_000)), parse],
  ['100,000 nested arrays', call(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), parse],
  ['800,000 brackets without closing ones', '['.repeat(800_000), parse],
  ['a batch of 10,000 (GHSA-f897-62hf-6gxq)', `[${Array(10_000).fill('{"id":1}').join(',')}]`, invalidRequest],
  ['a batch of one', `[${list(',"id":1')}]`, invalidRequest],
  ['a text that is not JSON', 'Content-Length: 10', parse],
  ['a truncated message', '{"jsonrpc":"2.0","id":1,"meth', parse],
  ['a byte order mark', `\ufeff${list(',"id":1')}`, parse],
  ['two messages', `${list(',"id":1')}${list(',"id":2')}`, parse],
  ['null', 'null', invalidRequest],
  ['a string', '"tools/list"', invalidRequest],
  ['a number too large', '1e999', invalidRequest],
  ['an empty object', '{}', invalidRequest],
  ['another version of JSON-RPC', list(',"id":1').replace('"2.0"', '"1.0"'), invalidRequest],
  ['a method that is not a string', '{"jsonrpc":"2.0","id":1,"method":{"a":1}}', invalidRequest],
  ['params that are an array', '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', invalidRequest],
  ['params that are null', '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}', invalidRequest],
  ['an id that is null', list(',"id":null'), invalidRequest],
  ['an id that is a fraction', list(',"id":1.5'), invalidRequest],
  ['an id that JavaScript rounds', list(',"id":9007199254740993'), invalidRequest],
  ['an id that is an object', list(',"id":{"__proto__":1}'), invalidRequest],
  ['two ids', list(',"id":1,"id":2'), invalidRequest],
  ['two methods', list(',"id":1,"method":"tools/call"'), invalidRequest],
  ['a method in another case (CVE-2026-27896)', list(',"id":1,"Method":"tools/call"'), invalidRequest],
  ['two names', call('{}', ',"name":"other"'), invalidRequest],
  ['a name in another case', call('{}', ',"Name":"other"'), invalidRequest],
  ['arguments written with a long s (CVE-2026-27896)', call('{}', ',"argument\u017f":{}'), invalidRequest],
  [
    'two protocol versions',
    call('{}').replace('"_meta":{', `"_meta":{"${metaKeys.protocolVersion}":"x",`),
    invalidRequest,
  ],
]

overEveryRawTransport('an invalid message', (open) => {
  test('is rejected with its code, and the next message is served [BAS-002 CAN-017]', async () => {
    const { server, received } = createTarget()
    await using transport = await open(server)
    for (const [title, text, code] of invalidMessages) {
      const labels = text.includes('tools/call') ? toEcho : toList
      const answer = await transport.request(text, labels)
      expect(answer, title).toMatchObject({ jsonrpc: '2.0', error: { code, message: expect.stringMatching(/\S/) } })
      expect(JSON.stringify(answer).length, title).toBeLessThan(2000)
    }
    expect(received).toEqual([])
    await expectServing(transport)
  })

  test('uses memory in proportion to its size (CVE-2026-111768)', async () => {
    await using transport = await open(createTarget().server)
    await expectServing(transport)
    const before = process.memoryUsage.rss()
    const largest = invalidMessages.filter(([, text]) => text.length > 300_000)
    expect(largest.length).toBeGreaterThan(5)
    let peak = 0
    for (const [, text] of [...largest, ...largest]) {
      await transport.request(text, toEcho)
      peak = Math.max(peak, process.memoryUsage.rss() - before)
    }
    // A parser without limits allocates some hundred bytes for each byte, which would be gigabytes here.
    expect(peak).toBeLessThan(400 * 1024 * 1024)
    await expectServing(transport)
  })

  test('that needs no response gets none [CAN-017]', async () => {
    const { server, received } = createTarget()
    await using transport = await open(server)
    for (const text of [
      '{"jsonrpc":"2.0","id":1,"result":{}}',
      '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled"}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"__proto__":{"admin":1}}}}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","method":"notifications/__proto__","params":{"__proto__":{"admin":1}}}',
    ]) {
      await transport.notify(text, { method: 'notifications/cancelled' })
    }
    await expectServing(transport)
    expect(received).toHaveLength(1)
  })
})

overEveryRawTransport('a hostile request', (open) => {
  const read = (uri: string): readonly [JsonObject, MessageHeaders] => [
    { method: 'resources/read', params: { uri } },
    { method: 'resources/read', name: uri },
  ]
  const plain = (method: string, params: JsonObject, name?: string): readonly [JsonObject, MessageHeaders] => [
    { method, params },
    { method, name },
  ]
  const rows: readonly (readonly [string, readonly [JsonObject, MessageHeaders], number])[] = [
    ['a tool called __proto__', plain('tools/call', { name: '__proto__' }, '__proto__'), invalidParams],
    ['a tool called constructor', plain('tools/call', { name: 'constructor' }, 'constructor'), invalidParams],
    ['a prompt called toString', plain('prompts/get', { name: 'toString' }, 'toString'), invalidParams],
    ['a method called __proto__', plain('__proto__', {}), -32601],
    ['a method of 5,000 characters', plain('x/'.repeat(2500), {}), -32601],
    ['a name of 5,000 characters', plain('tools/call', { name: 'x'.repeat(5000) }, 'x'.repeat(5000)), invalidParams],
    ['a cursor that is JSON', plain('tools/list', { cursor: '{"__proto__":{"admin":1}}' }), invalidParams],
    ['a cursor of 1 MB', plain('tools/list', { cursor: 'A'.repeat(1_000_000) }), invalidParams],
    ['a cursor that is an object', plain('tools/list', { cursor: { at: 1 } }), invalidParams],
    [
      'a state of 1 MB',
      plain('tools/call', { name: 'echo', requestState: 'A'.repeat(1_000_000) }, 'echo'),
      invalidParams,
    ],
    ['arguments that are an array', plain('tools/call', { name: 'echo', arguments: [] }, 'echo'), invalidParams],
    ['answers that are an array', plain('tools/call', { name: 'echo', inputResponses: [] }, 'echo'), invalidParams],
    ['the parent folder', read('docs://../secret'), invalidParams],
    ['the parent folder, percent-encoded (CVE-2026-32871)', read('docs://a/%2e%2e/secret'), invalidParams],
    ['the parent folder, with a backslash', read('docs://..%5Csecret'), invalidParams],
    ['a NUL character', read('docs://a%00.txt'), invalidParams],
    ['a URI that matches a template in many ways (CVE-2026-0621)', read(`x://${'-,'.repeat(2000)}/`), invalidParams],
    ['an unknown URI', read('file:///etc/passwd'), invalidParams],
  ]

  test('is rejected with its code before its handler runs, and the next request is served [TOL-032]', async () => {
    const { server, received, errors } = createTarget()
    await using transport = await open(server)
    for (const [title, [message, labels], code] of rows) {
      const answer = await transport.request(requestText(message), labels)
      expect(answer, title).toMatchObject({ id: 'attack', error: { code } })
      expect(JSON.stringify(answer).length, title).toBeLessThan(12_000)
      expect(JSON.stringify(answer), title).not.toMatch(/node:|\.ts:|at async/)
    }
    expect(received).toEqual([])
    // Only a state that cannot be opened is logged. No request causes another error.
    expect(errors.length).toBeLessThanOrEqual(1)
    await expectServing(transport)
  })

  test.each([
    ['_meta', `"_meta":{"__proto__":{"admin":true},"constructor":1,${meta.slice('"_meta":{'.length, -1)}}`, '{}'],
    ['arguments', meta, '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}'],
    [
      'inputResponses',
      `${meta},"inputResponses":{"__proto__":{"action":"decline"},"constructor":{"action":"decline"}}`,
      '{}',
    ],
    ['params', `${meta},"__proto__":{"admin":true,"name":"other"}`, '{}'],
  ])('with hostile keys in %s is served and changes no object', async (_, inside, args) => {
    const { server, received } = createTarget()
    await using transport = await open(server)
    const text = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":${args},${inside}}}`
    expect(await transport.request(text, toEcho)).toMatchObject({ id: 7, result: { resultType: 'complete' } })
    expect(received).toHaveLength(1)
    for (const value of [received[0], {}, []]) expect(value).not.toHaveProperty('admin')
    await expectServing(transport)
  })

  test('with text that UTF-8 cannot encode is answered', async () => {
    await using transport = await open(createTarget().server)
    const answer = await transport.request(call('{"text":"\\ud800 \\u0000 \\u2028"}'), toEcho)
    expect(answer).toMatchObject({ id: 7, result: { resultType: 'complete' } })
    await expectServing(transport)
  })
})

function requestText({ method, params }: JsonObject): string {
  const inner = JSON.stringify(params)
  const separator = inner === '{}' ? '' : ','
  return `{"jsonrpc":"2.0","id":"attack","method":${JSON.stringify(method)},"params":${inner.slice(0, -1)}${separator}${meta}}}`
}
