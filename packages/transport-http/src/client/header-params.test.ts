import { createClient } from '@x/client'
import type { JsonObject } from '@x/schema'
import { expect, test } from 'vitest'
import { createJsonAnswer, type ReceivedRequest, scriptedServer } from '../testing/scripted-server.ts'
import { connectHttp } from './connect-node.ts'

const tool = (properties: JsonObject): JsonObject => ({ name: 'sql', inputSchema: { type: 'object', properties } })
const region = { type: 'string', 'x-mcp-header': 'Region' }
const deep = { type: 'object', properties: { count: { type: 'integer', 'x-mcp-header': 'Count' } } }
const dry = { type: 'boolean', 'x-mcp-header': 'Dry' }

const hints = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'private' }

interface Body {
  readonly id: number
  readonly method: string
}

/** A server that lists one tool and answers every call with nothing. */
const listing = (
  definition: () => JsonObject,
  refuse: (received: ReceivedRequest) => boolean = () => false,
): ReturnType<typeof scriptedServer> =>
  scriptedServer((response, received) => {
    const { id, method } = JSON.parse(received.body) as Body
    const error = { jsonrpc: '2.0', id, error: { code: -32020, message: 'Header mismatch' } }
    if (refuse(received)) return createJsonAnswer(error, 400)(response, received)
    const result =
      method === 'tools/list' ? { ...hints, tools: [definition()] } : { resultType: 'complete', content: [] }
    createJsonAnswer({ jsonrpc: '2.0', id, result })(response, received)
  })

test.each([
  ['text as it is', { region: 'us-west1' }, { 'mcp-param-region': 'us-west1' }],
  ['an integer in decimal, from where it is nested', { deep: { count: -42 } }, { 'mcp-param-count': '-42' }],
  ['a boolean in words', { dry: true }, { 'mcp-param-dry': 'true' }],
  [
    'text outside ASCII in Base64',
    { region: 'Hello, 世界' },
    { 'mcp-param-region': '=?base64?SGVsbG8sIOS4lueVjA==?=' },
  ],
  ['text with spaces around it in Base64', { region: ' padded ' }, { 'mcp-param-region': '=?base64?IHBhZGRlZCA=?=' }],
  [
    'text that looks encoded in Base64',
    { region: '=?base64?literal?=' },
    { 'mcp-param-region': '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=' },
  ],
  ['null not at all', { region: null }, {}],
  ['what is absent not at all', {}, {}],
])(
  'a designated argument is sent in a header: %s [SHT-036 SHT-037 SHT-046 SHT-050 SHT-051 SHT-052 SHT-053 SHT-057 SHT-059 SHT-065 SHT-066]',
  async (_title, args, expected) => {
    await using server = await listing(() => tool({ region, deep, dry }))
    await using connection = connectHttp(server.url)
    const client = createClient(connection, { name: 'test', version: '1' })
    await client.listTools()
    await client.callTool('sql', args)
    const sent = Object.entries(server.received[1]?.headers ?? {}).filter(([name]) => name.startsWith('mcp-param-'))
    expect(Object.fromEntries(sent)).toEqual(expected)
  },
)

test('a call that is refused for its headers is repeated with those of the new definition, once [SHT-060]', async () => {
  let definition = tool({})
  await using server = await listing(
    () => definition,
    ({ headers }) => headers['mcp-method'] === 'tools/call' && headers['mcp-param-region'] === undefined,
  )
  await using connection = connectHttp(server.url)
  const client = createClient(connection, { name: 'test', version: '1' })
  await client.listTools()
  definition = tool({ region })
  await client.callTool('sql', { region: 'eu' })
  const methods = server.received.map(({ headers }) => headers['mcp-method'])
  expect(methods).toEqual(['tools/list', 'tools/call', 'tools/list', 'tools/call'])
})
