import { type JsonObject, metaKeys } from '@x/schema'
import { createServer, prompt, resourceTemplate, type McpServer, tool } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { keys, stateWith } from './asking.ts'
import { overEveryWire } from './over-every-wire.ts'
import type { Labels, Wire } from './wire.ts'

const meta = `"_meta":{"${metaKeys.protocolVersion}":"2026-07-28","${metaKeys.clientCapabilities}":{}}`
const call = (args: string, more = ''): string =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":${args},${meta}${more}}}`
const list = (more: string): string => `{"jsonrpc":"2.0","method":"tools/list"${more},"params":{${meta}}}`
const toEcho: Labels = { method: 'tools/call', name: 'echo' }
const toList: Labels = { method: 'tools/list' }

/** A server, and everything that its handlers were given. */
function besieged(): { readonly server: McpServer; readonly given: unknown[]; readonly errors: unknown[] } {
  const [given, errors]: [unknown[], unknown[]] = [[], []]
  const keep = <T>(value: T): T => {
    given.push(value)
    return value
  }
  const server = createServer({
    name: 'besieged',
    version: '1.0.0',
    tools: [
      tool('echo', {
        description: 'Gives back what it is given',
        input: z.looseObject({ text: z.string().optional() }),
        run: (input) => JSON.stringify(keep(input)),
      }),
    ],
    prompts: [prompt('poem', { input: z.object({ about: z.string() }), run: ({ about }) => keep(about) })],
    resourceTemplates: [
      resourceTemplate('docs://{+path}', { name: 'docs', read: ({ path }) => keep(path) }),
      resourceTemplate('x://{a}-{b}-{c}-{d}-{e}', { name: 'parts', read: (variables) => JSON.stringify(variables) }),
    ],
    state: stateWith(keys.first),
    log: ({ err }) => void errors.push(err),
  })
  return { server, given, errors }
}

/** Tells if the server still responds, and no prototype was modified. */
async function stillServes(wire: Wire): Promise<void> {
  const answer = await wire.ask(call('{"text":"still here"}'), toEcho)
  expect(answer).toMatchObject({ id: 7, result: { content: [{ text: '{"text":"still here"}' }] } })
  expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('admin')
}

const parse = -32700
const invalidRequest = -32600
const invalidParams = -32602
const fourMebibytes = 4 * 1024 * 1024
const repeat = (text: string, bytes: number): string => text.repeat(Math.floor(bytes / text.length))
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}0${'}'.repeat(depth)}`
const wholeOf = (size: number, inside: (room: number) => string): string => inside(size - call('').length)

const unreadable: readonly (readonly [string, string, number])[] = [
  ['4 MiB of [0,0,…] (CVE-2026-111768)', `[${repeat('0,', fourMebibytes - 4)}0]`, parse],
  ['4 MiB of [0,0,…] for arguments', call(wholeOf(fourMebibytes, (room) => `[${repeat('0,', room - 4)}0]`)), parse],
  ['4 MiB of empty objects', call(wholeOf(fourMebibytes, (room) => `{"a":[${repeat('{},', room - 16)}{}]}`)), parse],
  ['4 MiB of members', call(wholeOf(fourMebibytes, (room) => `{${repeat('"a":0,', room - 16)}"a":0}`)), parse],
  ['100,000 objects in one another', call(nested(100_000)), parse],
  ['100,000 arrays in one another', call(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), parse],
  ['800,000 brackets that are not closed', '['.repeat(800_000), parse],
  ['a batch of 10,000 (GHSA-f897-62hf-6gxq)', `[${Array(10_000).fill('{"id":1}').join(',')}]`, invalidRequest],
  ['a batch of one', `[${list(',"id":1')}]`, invalidRequest],
  ['no JSON', 'Content-Length: 10', parse],
  ['half a message', '{"jsonrpc":"2.0","id":1,"meth', parse],
  ['a byte order mark', `\ufeff${list(',"id":1')}`, parse],
  ['two messages', `${list(',"id":1')}${list(',"id":2')}`, parse],
  ['null', 'null', invalidRequest],
  ['a text', '"tools/list"', invalidRequest],
  ['a number too large', '1e999', invalidRequest],
  ['an empty object', '{}', invalidRequest],
  ['another version of JSON-RPC', list(',"id":1').replace('"2.0"', '"1.0"'), invalidRequest],
  ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":{"a":1}}', invalidRequest],
  ['params that are a list', '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', invalidRequest],
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

overEveryWire('what is no message', (open) => {
  test('is refused with its code, and the next message is served [BAS-002 CAN-017]', async () => {
    const { server, given } = besieged()
    await using wire = await open(server)
    for (const [title, text, code] of unreadable) {
      const labels = text.includes('tools/call') ? toEcho : toList
      const answer = await wire.ask(text, labels)
      expect(answer, title).toMatchObject({ jsonrpc: '2.0', error: { code, message: expect.stringMatching(/\S/) } })
      expect(JSON.stringify(answer).length, title).toBeLessThan(2000)
    }
    expect(given).toEqual([])
    await stillServes(wire)
  })

  test('takes memory in proportion to its bytes, however it is built (CVE-2026-111768)', async () => {
    await using wire = await open(besieged().server)
    await stillServes(wire)
    const before = process.memoryUsage.rss()
    const greatest = unreadable.filter(([, text]) => text.length > 300_000)
    expect(greatest.length).toBeGreaterThan(5)
    let peak = 0
    for (const [, text] of [...greatest, ...greatest]) {
      await wire.ask(text, toEcho)
      peak = Math.max(peak, process.memoryUsage.rss() - before)
    }
    // A parser without bounds makes some hundred bytes of each byte: gigabytes of these.
    expect(peak).toBeLessThan(400 * 1024 * 1024)
    await stillServes(wire)
  })

  test('and has no answer, is met with silence [CAN-017]', async () => {
    const { server, given } = besieged()
    await using wire = await open(server)
    for (const text of [
      '{"jsonrpc":"2.0","id":1,"result":{}}',
      '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled"}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"__proto__":{"admin":1}}}}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","method":"notifications/__proto__","params":{"__proto__":{"admin":1}}}',
    ]) {
      await wire.tell(text, { method: 'notifications/cancelled' })
    }
    await stillServes(wire)
    expect(given).toHaveLength(1)
  })
})

overEveryWire('a request that is made to harm', (open) => {
  const read = (uri: string): readonly [JsonObject, Labels] => [
    { method: 'resources/read', params: { uri } },
    { method: 'resources/read', name: uri },
  ]
  const plain = (method: string, params: JsonObject, name?: string): readonly [JsonObject, Labels] => [
    { method, params },
    { method, name },
  ]
  const rows: readonly (readonly [string, readonly [JsonObject, Labels], number])[] = [
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
    ['arguments that are a list', plain('tools/call', { name: 'echo', arguments: [] }, 'echo'), invalidParams],
    ['answers that are a list', plain('tools/call', { name: 'echo', inputResponses: [] }, 'echo'), invalidParams],
    ['the folder above', read('docs://../secret'), invalidParams],
    ['the folder above, escaped (CVE-2026-32871)', read('docs://a/%2e%2e/secret'), invalidParams],
    ['the folder above, the Windows way', read('docs://..%5Csecret'), invalidParams],
    ['a zero character', read('docs://a%00.txt'), invalidParams],
    ['a URI that fits a template in many ways (CVE-2026-0621)', read(`x://${'-,'.repeat(2000)}/`), invalidParams],
    ['a URI that is nowhere', read('file:///etc/passwd'), invalidParams],
  ]

  test('is refused with its code, reaches no handler, and the next one is served [TOL-032]', async () => {
    const { server, given, errors } = besieged()
    await using wire = await open(server)
    for (const [title, [message, labels], code] of rows) {
      const answer = await wire.ask(requestText(message), labels)
      expect(answer, title).toMatchObject({ id: 'attack', error: { code } })
      expect(JSON.stringify(answer).length, title).toBeLessThan(12_000)
      expect(JSON.stringify(answer), title).not.toMatch(/node:|\.ts:|at async/)
    }
    expect(given).toEqual([])
    // A state that cannot be opened is told to the operator; nothing else is a fault of the server's.
    expect(errors.length).toBeLessThanOrEqual(1)
    await stillServes(wire)
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
  ])('under hostile keys in %s is served as any other, and changes no object', async (_, inside, args) => {
    const { server, given } = besieged()
    await using wire = await open(server)
    const text = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":${args},${inside}}}`
    expect(await wire.ask(text, toEcho)).toMatchObject({ id: 7, result: { resultType: 'complete' } })
    expect(given).toHaveLength(1)
    for (const value of [given[0], {}, []]) expect(value).not.toHaveProperty('admin')
    await stillServes(wire)
  })

  test('with text that no UTF-8 has is answered all the same', async () => {
    await using wire = await open(besieged().server)
    const answer = await wire.ask(call('{"text":"\\ud800 \\u0000 \\u2028"}'), toEcho)
    expect(answer).toMatchObject({ id: 7, result: { resultType: 'complete' } })
    await stillServes(wire)
  })
})

function requestText({ method, params }: JsonObject): string {
  const inner = JSON.stringify(params)
  const separator = inner === '{}' ? '' : ','
  return `{"jsonrpc":"2.0","id":"attack","method":${JSON.stringify(method)},"params":${inner.slice(0, -1)}${separator}${meta}}}`
}
