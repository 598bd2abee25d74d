import { writeFile } from 'node:fs/promises'
import { connectAny } from '@x/legacy/client'
import { createServer, tool } from '@x/server'
import { httpHandler } from '@x/transport-http'
import { McpServer as LiteServer, StreamableHttpTransport as LiteTransport } from 'mcp-lite'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { textOf } from './asking.ts'
import { official } from './official-v1-server.ts'
import {
  everything,
  everythingOverHttp,
  fastmcpOverHttp,
  filesystem,
  memory,
  overStdio,
  peerOf,
  serverOfRevision,
  temporaryFolder,
} from './older-server-peers.ts'
import { useServerEverything } from './server-everything.ts'

describe.each([
  ['stdio', async () => overStdio(everything)],
  ['HTTP', everythingOverHttp],
] as const)('server-everything over %s', (_, connect) => {
  test('supports every feature [LEG-001 LEG-003 LEG-025]', async () => {
    await using peer = await connect()
    await useServerEverything(peer)
    expect(peer.connection.peer).toMatchObject({ revision: '2025-11-25' })
  })
})

test('server-filesystem, which requests roots outside calls, receives the roots of the client [SCO-003 LEG-078]', async () => {
  await using folder = await temporaryFolder()
  await writeFile(`${folder.path}/note.txt`, 'hello')
  {
    await using other = await temporaryFolder()
    const connection = connectAny({ command: process.execPath, args: [filesystem, other.path] })
    const root = { uri: `file://${folder.path}`, name: 'notes' }
    await using peer = peerOf(connection, async () => {}, root)
    // The folder of the command line differs from the one in the roots.
    const read = (): Promise<unknown> =>
      peer.client.callTool('read_text_file', { path: `${folder.path}/note.txt` }).then(textOf)
    await expect.poll(read).toBe('hello')
    expect(peer.connection.peer).toMatchObject({ revision: '2025-11-25' })
  }
})

test('server-memory stores a graph', async () => {
  await using folder = await temporaryFolder()
  {
    const env = { MEMORY_FILE_PATH: `${folder.path}/memory.json` }
    await using peer = peerOf(connectAny({ command: process.execPath, args: [memory], env }))
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }]
    await peer.client.callTool('create_entities', { entities })
    expect(textOf(await peer.client.callTool('read_graph'))).toContain('writes programs')
  }
})

test.each(['sessions', 'stateless'] as const)('FastMCP lists and calls a tool: %s', async (kind) => {
  await using peer = await fastmcpOverHttp(kind)
  expect(textOf(await peer.client.callTool('add', { a: 1 }))).toBe('2')
  expect(peer.connection.peer).toMatchObject({ revision: '2025-11-25' })
})

test('mcp-lite serves a tool call', async () => {
  const server = new LiteServer({
    name: 'lite',
    version: '1.0.0',
    schemaAdapter: (schema) => z.toJSONSchema(schema as z.ZodType),
  })
  server.tool('add', {
    inputSchema: z.object({ a: z.number() }),
    handler: ({ a }: { a: number }) => ({ content: [{ type: 'text', text: `${a + 1}` }] }),
  })
  const handle = new LiteTransport().bind(server)
  const fetch = async (url: string, init: RequestInit): Promise<Response> => handle(new Request(url, init))
  await using peer = peerOf(connectAny('http://localhost/mcp', { http: { fetch } }))
  expect(textOf(await peer.client.callTool('add', { a: 1 }))).toBe('2')
  expect(peer.connection.peer).toMatchObject({ revision: '2025-03-26' })
})

test('the official v1 server with sessions asks during a call', async () => {
  await using peer = await official(true)
  expect(textOf(await peer.client.callTool('ask'))).toBe('{"name":"Ada"}')
  expect(peer.asked).toEqual(['Name?'])
})

test('the official v1 server without sessions lists and calls its tools', async () => {
  await using peer = await official(false)
  expect(textOf(await peer.client.callTool('add', { a: 1 }))).toBe('2')
  expect((await peer.client.listTools()).map(({ name }) => name)).toEqual(['ask', 'add'])
})

test.each([
  ['2025-06-18', 'Ada', ['Name?']],
  ['2025-03-26', 'no user was asked', []],
])(
  'the official server with revision %s asks if the revision has elicitation [LEG-006]',
  async (revision, text, asked) => {
    await using peer = overStdio(serverOfRevision, revision)
    expect((await peer.client.listTools()).map(({ name }) => name)).toEqual(['ask'])
    expect(peer.connection.peer).toMatchObject({ revision })
    expect(textOf(await peer.client.callTool('ask'))).toBe(text)
    expect(peer.asked).toEqual(asked)
  },
)

test('a server of 2026-07-28 is called directly after its discovery [VER-007]', async () => {
  const methods: string[] = []
  const add = tool('add', { description: 'Adds', input: z.object({ a: z.number() }), run: ({ a }) => `${a + 1}` })
  const handle = httpHandler(createServer({ name: 'modern', version: '1.0.0', tools: [add] }))
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    methods.push(new Headers(init.headers).get('mcp-method') ?? 'none')
    return handle(new Request(url, init))
  }
  await using peer = peerOf(connectAny('http://localhost/mcp', { http: { fetch } }))
  for (const a of [1, 2]) expect(textOf(await peer.client.callTool('add', { a }))).toBe(`${a + 1}`)
  expect(peer.connection.peer).toEqual({ revision: '2026-07-28' })
  expect(methods).toEqual(['server/discover', 'tools/call', 'tools/call'])
})
