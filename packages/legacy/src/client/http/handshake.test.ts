import { createClient } from '@x/client'
import { projectMetaKeys } from '@x/schema'
import { httpHandler } from '@x/transport-http'
import { createServer, tool } from '@x/server'
import { describe, expect, test } from 'vitest'
import {
  type ReceivedRequest,
  createReply,
  createErrorReply,
  createScriptedServer,
  type ServerScript,
} from '../../testing/scripted-server.ts'
import { connectAny } from '../connect-node.ts'
import type { ConnectAnyOptions } from '../options.ts'

const url = 'https://server.test/mcp'
const host = { name: 'host', version: '1.2.3' }
const tasksExtension = 'io.modelcontextprotocol/tasks'

function connect(script: ServerScript = {}, options: ConnectAnyOptions = {}) {
  const server = createScriptedServer(script)
  const connection = connectAny(url, { ...options, http: { ...options.http, fetch: server.fetch } })
  const client = createClient(connection, { ...host, elicit: () => ({ action: 'accept', content: {} }) })
  return { server, connection, client }
}

test('the handshake comes first, with version, capabilities and info [LEG-001 LEG-003 LEG-004 LEG-006 LEG-007 LEG-100]', async () => {
  const { server, client, connection } = connect({ instructions: 'Be kind' })
  await client.callTool('greet')
  // The stream outside calls is opened, because the call may be asked something.
  expect(server.methods()).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'GET', 'tools/call'])
  expect(server.arrived[1]?.message['params']).toEqual({
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: { form: {} }, experimental: { requestState: {} } },
    clientInfo: host,
  })
  expect(connection.peer).toEqual({
    revision: '2025-11-25',
    namesCalls: true,
    info: { name: 'scripted', version: '1.0.0' },
    capabilities: { tools: {} },
    instructions: 'Be kind',
  })
})

test('a revision that the host names is the only one it offers and takes', async () => {
  const named = connect({ revision: '2025-06-18' }, { revision: '2025-06-18' })
  await named.client.callTool('greet')
  expect(named.server.methods()).toEqual(['initialize', 'notifications/initialized', 'GET', 'tools/call'])
  expect(named.server.arrived[0]?.message['params']).toMatchObject({ protocolVersion: '2025-06-18' })
  const other = connect({ revision: '2025-11-25' }, { revision: '2025-06-18' })
  await expect(other.client.callTool('greet')).rejects.toThrow(
    `speaks none of this client's revisions of the protocol; it names ["2025-11-25"]`,
  )
  expect(() => connect({}, { revision: '2025-01-01' as '2025-11-25' })).toThrow(
    'connectAny: the revision "2025-01-01" is unknown; known are probe, older, 2026-07-28, 2025-11-25',
  )
})

test('everything after it carries version and session, and what older servers know alone [LEG-012 LEG-013 LEG-020 LEG-043]', async () => {
  const { server, client, connection } = connect({ revision: '2025-06-18' })
  await client.callTool('greet', { name: 'Ada' })
  await connection.close()
  const later = server.arrived.slice(2)
  expect(server.methods().slice(2)).toEqual(['notifications/initialized', 'GET', 'tools/call', 'DELETE'])
  expect(later.map(({ headers }) => [headers.get('mcp-protocol-version'), headers.get('mcp-session-id')])).toEqual([
    ['2025-06-18', 'session-1'],
    ['2025-06-18', 'session-1'],
    ['2025-06-18', 'session-1'],
    ['2025-06-18', 'session-1'],
  ])
  expect(later.every(({ headers }) => headers.get('accept') === 'application/json, text/event-stream')).toBe(true)
  expect(later[2]?.message['params']).toEqual({
    name: 'greet',
    arguments: { name: 'Ada' },
    _meta: { progressToken: 2 },
  })
  expect(later.map(({ headers }) => headers.get('mcp-method'))).toEqual([null, null, null, null])
})

test('a client that cannot be asked, and has tasks, declares neither to an older server [LEG-014 LEG-100 ROB-007]', async () => {
  const script: ServerScript = {
    capabilities: { tools: {}, tasks: {}, extensions: { [tasksExtension]: {}, 'a.b/c': {} } },
  }
  const { server, connection } = connect(script)
  const client = createClient(connection, { ...host, capabilities: { extensions: { [tasksExtension]: {} } } })
  const task = { ttl: 1000 }
  expect((await client.discover()).capabilities).toEqual({ tools: {}, extensions: { 'a.b/c': {} } })
  await client.request('tools/call', { name: 'greet', arguments: {}, task })
  const { params } = server.arrived.find(({ message }) => message['method'] === 'initialize')?.message ?? {}
  expect(params).toMatchObject({ capabilities: { extensions: {} } })
  expect(JSON.stringify(params)).not.toMatch(/tasks|requestState/)
  expect(server.arrived.at(-1)?.message['params']).not.toHaveProperty('task')
})

test('calls at once share one probe and one handshake [VER-007]', async () => {
  const { server, client } = connect()
  await Promise.all([client.callTool('greet'), client.listTools(), client.discover()])
  expect(server.methods().slice(0, 3)).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
  expect(server.methods().slice(3).toSorted()).toEqual(['GET', 'tools/call', 'tools/list'])
})

test('discover is answered from the handshake', async () => {
  const { client } = connect({ instructions: 'Be kind', capabilities: { tools: {}, tasks: {}, logging: {} } })
  expect(await client.discover()).toMatchObject({
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {}, logging: {} },
    instructions: 'Be kind',
  })
  expect(client.serverInfo).toEqual({ name: 'scripted', version: '1.0.0' })
})

test.each(['2024-10-07', '2099-01-01', 7])(
  'a version %s that is not spoken ends the session [LEG-011]',
  async (version) => {
    const answer = (one: ReceivedRequest) =>
      one.message['method'] === 'initialize'
        ? createReply(one, { protocolVersion: version, capabilities: {} }, { 'mcp-session-id': 'other' })
        : undefined
    const { server, client } = connect({ handle: answer })
    await expect(client.callTool('greet')).rejects.toMatchObject({ code: 'unsupported_version' })
    expect(server.methods()).toContain('DELETE')
  },
)

test('a method that the server has not declared, or that its revision lacks, is not sent [LEG-013 LEG-014]', async () => {
  const { server, client } = connect()
  expect(await client.listPrompts()).toEqual([])
  await expect(client.request('tasks/get', { taskId: 'x' })).rejects.toMatchObject({ rpc: { code: -32601 } })
  expect(server.methods()).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
})

test('tools that only run as tasks are left out of every list, with one warning for a session [LEG-057]', async () => {
  const tools = [
    { name: 'job', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } },
    { name: 'other_job', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } },
    { name: 'greet', inputSchema: { type: 'object' }, execution: { taskSupport: 'optional' } },
  ]
  const warnings: unknown[] = []
  const handle = (one: ReceivedRequest) =>
    one.message['method'] === 'tools/list' ? createReply(one, { tools }) : undefined
  const { server, client } = connect({ handle }, { log: ({ code }) => warnings.push(code) })
  for (let list = 0; list < 3; list += 1) {
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['greet'])
  }
  expect(server.methods().filter((method) => method === 'tools/list')).toHaveLength(3)
  expect(warnings).toEqual(['task_required'])
})

test('a call whose effects would follow its idempotency key is sent once, because the key is not sent', async () => {
  const tools = [{ name: 'pay', inputSchema: { type: 'object' }, _meta: { [projectMetaKeys.keyedEffects]: true } }]
  const handle = (one: ReceivedRequest) => {
    if (one.message['method'] === 'tools/list') return createReply(one, { tools })
    if (one.message['method'] === 'tools/call') throw new TypeError('The connection was reset')
    return undefined
  }
  const { server, client } = connect({ handle })
  await client.listTools()
  await expect(client.callTool('pay')).rejects.toMatchObject({ code: 'transport' })
  expect(server.methods().filter((method) => method === 'tools/call')).toEqual(['tools/call'])
})

test.each([200, 204, 405, 500])('the end of a session may be answered with %i [LEG-047]', async (status) => {
  const handle = ({ method }: ReceivedRequest) => (method === 'DELETE' ? new Response(null, { status }) : undefined)
  const { server, client, connection } = connect({ handle })
  await client.callTool('greet')
  await connection.close()
  await connection.close()
  expect(server.methods().filter((method) => method === 'DELETE')).toHaveLength(1)
  await expect(client.callTool('greet')).rejects.toMatchObject({ code: 'transport' })
})

test('a server without sessions is used without one', async () => {
  const { server, client, connection } = connect({ sessionId: undefined })
  await client.callTool('greet')
  await connection.close()
  expect(server.arrived.some(({ headers, method }) => headers.has('mcp-session-id') || method === 'DELETE')).toBe(false)
})

test('headers of the user and of an authorizer go with GET and DELETE too, which begins no login [LEX-007]', async () => {
  const seen: string[] = []
  const auth = {
    headers: () => ({ authorization: 'Bearer token' }),
    onResponse: (_: unknown, { method }: { method: string }) => void seen.push(method),
  }
  const capabilities = { tools: { listChanged: true } }
  const { server, client, connection } = connect(
    { capabilities },
    { http: { auth, headers: () => ({ 'x-user': 'ada' }) } },
  )
  await using changes = client.listen({ toolsListChanged: true })
  await changes[Symbol.asyncIterator]().next()
  await connection.close()
  // A DELETE begins no login: its answer is not shown to the authorizer.
  expect(new Set(seen)).toEqual(new Set(['POST', 'GET']))
  expect(server.methods()).toContain('DELETE')
  const sent = server.arrived.map(({ headers }) => [headers.get('authorization'), headers.get('x-user')])
  expect(new Set(sent.map(String))).toEqual(new Set(['Bearer token,ada']))
})

describe('a server that is found to be', () => {
  const discover = (answer: (one: ReceivedRequest) => Response) => ({
    handle: (one: ReceivedRequest) => (one.message['method'] === 'server/discover' ? answer(one) : undefined),
  })

  test.each<[string, (one: ReceivedRequest) => Response]>([
    ['400 without a session', (one) => createErrorReply(one, { code: -32000, message: 'no session' }, 400)],
    ['method not found', (one) => createErrorReply(one, { code: -32601, message: 'no' })],
    ['another JSON-RPC error', (one) => createErrorReply(one, { code: -32602, message: 'no' }, 400)],
    ['an internal error', (one) => createErrorReply(one, { code: -32603, message: 'no' })],
    ['404', () => new Response('not found', { status: 404 })],
    ['405', () => new Response(null, { status: 405 })],
    [
      'an unsupported version that names older ones',
      (one) => {
        const data = { supported: ['2025-11-25', '2025-06-18'], requested: '2026-07-28' }
        return createErrorReply(one, { code: -32022, message: 'no', data }, 400)
      },
    ],
    ['202', () => new Response(null, { status: 202 })],
    ['a page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['another result', (one) => createReply(one, {})],
  ])('an older one by %s receives initialize [SHT-078 SHT-080]', async (_, answer) => {
    const { server, client, connection } = connect(discover(answer))
    await client.callTool('greet')
    expect(server.methods()).toContain('initialize')
    expect(connection.peer).toMatchObject({ revision: expect.stringMatching(/^202[45]-/) })
  })

  test.each<[string, (one: ReceivedRequest) => Response]>([
    ['its revisions', (one) => createReply(one, { supportedVersions: ['2026-07-28'], capabilities: {} })],
    ['revisions to come', (one) => createReply(one, { supportedVersions: ['2027-01-01'], capabilities: {} })],
    [
      'a version error that names 2026-07-28',
      (one) => createErrorReply(one, { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } }, 400),
    ],
    ['a header mismatch', (one) => createErrorReply(one, { code: -32020, message: 'no' }, 400)],
    ['a missing capability', (one) => createErrorReply(one, { code: -32021, message: 'no' }, 400)],
  ])('a modern one by %s does not receive it [SHT-079]', async (_, answer) => {
    const { server, client, connection } = connect(discover(answer))
    await client.callTool('greet').catch(() => {})
    expect(connection.peer).toEqual({ revision: '2026-07-28' })
    // Its tools/call was refused as an older server would, so it is looked at once more.
    expect(server.methods()).toEqual(['server/discover', 'tools/call', 'server/discover'])
  })

  test('a modern one whose own error answered the probe is recognized by its refusal of initialize [LEG-083]', async () => {
    const handle = (one: ReceivedRequest): Response =>
      one.message['method'] === 'initialize'
        ? createErrorReply(one, { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } }, 400)
        : createErrorReply(one, { code: -32603, message: 'Upstream "memory" gave no answer' })
    const { server, client, connection } = connect({ handle })
    await expect(client.callTool('greet')).rejects.toMatchObject({
      rpc: { message: 'Upstream "memory" gave no answer' },
    })
    expect(server.methods()).toEqual(['server/discover', 'initialize', 'tools/call'])
    expect(connection.peer).toEqual({ revision: '2026-07-28' })
  })

  test.each([401, 403, 407, 408, 429, 500, 502, 503])(
    'neither by status %i, with or without an error [LEG-084]',
    async (status) => {
      for (const answer of [
        () => new Response('no', { status }),
        (one: ReceivedRequest) => createErrorReply(one, { code: -32000, message: 'no' }, status),
      ]) {
        const { server, client, connection } = connect(discover(answer), { http: { retry: false } })
        const failure = client.callTool('greet', {}, { maxResendMs: 0 })
        await expect(failure).rejects.toMatchObject({ name: 'ClientError' })
        expect(server.methods()).toEqual(['server/discover'])
        expect(connection.peer).toBeUndefined()
      }
    },
  )

  test('unreachable or silent does not count as an older one [LEG-084]', async () => {
    const connection = connectAny('http://127.0.0.1:9/mcp', { http: { retry: false } })
    const client = createClient(connection.exchange, { ...host, maxResendMs: 0 })
    await expect(client.callTool('x')).rejects.toMatchObject({ code: 'transport' })
    expect(connection.peer).toBeUndefined()
    const silent = connect({ handle: () => new Promise<Response>(() => {}) }, { handshakeTimeoutMs: 20 })
    await expect(silent.client.callTool('x')).rejects.toThrow('no answer to server/discover within 20 ms')
    expect(silent.connection.peer).toBeUndefined()
    await Promise.all([connection.close(), silent.connection.close()])
  })

  test.each([301, 302, 307, 308])('elsewhere by a redirect %i is not followed [LEG-084]', async (status) => {
    const handle = () => new Response(null, { status, headers: { location: 'https://elsewhere.test/' } })
    const { server, client } = connect({ handle })
    await expect(client.callTool('greet')).rejects.toThrow('redirects')
    expect(server.arrived).toHaveLength(1)
  })

  test('of HTTP+SSE is named in the error [SHT-084]', async () => {
    const { client } = connect({
      handle: ({ method }) => (method === 'POST' ? new Response(null, { status: 405 }) : undefined),
    })
    await expect(client.callTool('greet')).rejects.toThrow('HTTP+SSE (2024-11-05)')
  })

  test('remembered is not probed, and looked at anew when that is wrong [LEG-083]', async () => {
    const known = new Map([[url, '2025-11-25']])
    const older = connect({}, { detectedRevisions: known })
    await older.client.callTool('greet')
    expect(older.server.methods()).toEqual(['initialize', 'notifications/initialized', 'GET', 'tools/call'])

    const modern = createServer({ ...host, tools: [tool('greet', { description: 'Greets', run: () => '2026-07-28' })] })
    const handler = httpHandler(modern)
    const fetch = async (address: string, init: RequestInit) => handler(new Request(address, init))
    const connection = connectAny('http://localhost/mcp', {
      http: { fetch },
      detectedRevisions: new Map([['http://localhost/mcp', '2025-11-25']]),
    })
    expect(await createClient(connection.exchange, host).callTool('greet')).toMatchObject({
      content: [{ text: '2026-07-28' }],
    })
    expect(connection.peer).toEqual({ revision: '2026-07-28' })

    known.set(url, '2026-07-28')
    const changed = connect({}, { detectedRevisions: known })
    await changed.client.callTool('greet')
    expect(known.get(url)).toBe('2025-11-25')
  })
})
