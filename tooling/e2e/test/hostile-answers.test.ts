import { createServer as createHttpServer } from 'node:http'
import { createClient, type LogRecord } from '@x/client'
import type { Exchange } from '@x/exchange'
import type { JsonObject, RpcRequest } from '@x/schema'
import { compileJsonSchema } from '@x/schema/json-schema'
import { tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { describe, expect, test } from 'vitest'
import { textOf } from './asking.ts'
import { overEveryTransport, overMemory, type ServeOptions } from './over-every-transport.ts'

const textResult = (text: string): JsonObject => ({ resultType: 'complete', content: [{ type: 'text', text }] })
const cached: JsonObject = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
const schemaOf = (properties: JsonObject): JsonObject => ({ type: 'object', properties })

/** Overrides the results of some methods. Other methods and calls of `echo` are served by the real server. */
function overrideResults(answers: Readonly<Record<string, (request: RpcRequest) => JsonObject>>): ServeOptions {
  const hostile = new Map(Object.entries(answers))
  const middleware =
    (server: Exchange): Exchange =>
    async (request, call) => {
      const answer = request.params?.['name'] === 'echo' ? undefined : hostile.get(request.method)
      if (answer === undefined) return server(request, call)
      return { jsonrpc: '2.0', id: request.id, result: answer(request) }
    }
  return { middleware }
}

const honest = { tools: [tool('echo', { description: 'Answers', run: () => 'still here' })] }

overEveryTransport('a hostile server', (serve) => {
  test('whose result has hostile keys changes no object of the client', async () => {
    const hostile: JsonObject = JSON.parse(
      '{"resultType":"complete","__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"content":[],"_meta":{"__proto__":{"admin":true}},"structuredContent":{"__proto__":{"admin":true}}}',
    )
    await using served = await serve(honest, overrideResults({ 'tools/call': () => hostile }))
    const { client } = served.connect()
    const result = await client.callTool('hostile').catch((error: unknown) => error)
    for (const value of [result, {}, [], client]) expect(value).not.toHaveProperty('admin')
    expect(textOf(await client.callTool('echo'))).toBe('still here')
  })

  test.each([
    ['an empty object', {}],
    ['no content', { resultType: 'complete' }],
    ['content that is not a list', { resultType: 'complete', content: { length: 1e9 } }],
    ['content with a malformed block', { resultType: 'complete', content: [{ type: 'text', text: { a: 1 } }] }],
    ['an unknown result type', { resultType: '__proto__', content: [] }],
    ['input requests that are a list', { resultType: 'input_required', inputRequests: [1, 2] }],
    [
      'an input request with an unknown method',
      { resultType: 'input_required', inputRequests: { a: { method: 'shell/run' } } },
    ],
  ] satisfies readonly (readonly [string, JsonObject])[])(
    'whose result is %s fails only that call',
    async (_, result) => {
      await using served = await serve(honest, overrideResults({ 'tools/call': () => result }))
      const { client } = served.connect({ capabilities: { elicitation: {} } })
      await expect(client.callTool('hostile')).rejects.toMatchObject({ name: 'ClientError', method: 'tools/call' })
      expect(textOf(await client.callTool('echo'))).toBe('still here')
    },
  )

  test('that asks for input without end is limited to ten rounds', async () => {
    let rounds = 0
    const form = { mode: 'form', message: 'Again?', requestedSchema: schemaOf({ a: { type: 'string' } }) }
    const question = { method: 'elicitation/create', params: form }
    const answer = (): JsonObject => {
      rounds += 1
      return { resultType: 'input_required', inputRequests: { a: question }, requestState: `${rounds}` }
    }
    await using served = await serve(honest, overrideResults({ 'tools/call': answer }))
    const { client } = served.connect({ elicit: () => ({ action: 'accept', content: { a: 'yes' } }) })
    await expect(client.callTool('hostile')).rejects.toMatchObject({ code: 'too_many_rounds' })
    expect(rounds).toBeLessThanOrEqual(11)
  })

  test.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'file:///etc/passwd',
    'vbscript:msgbox(1)',
    'https://user:password@example.com',
    'https://example.com/\u202emoc.elgoog',
    '$(touch /tmp/pwned)',
  ])('that requests to open %j is not shown to the user', async (url) => {
    const question = { method: 'elicitation/create', params: { mode: 'url', message: 'Go there', url } }
    const answer = (): JsonObject => ({ resultType: 'input_required', inputRequests: { a: question } })
    await using served = await serve(honest, overrideResults({ 'tools/call': answer }))
    const opened: string[] = []
    const { client } = served.connect({
      capabilities: { elicitation: { url: {} } },
      openUrl: (asked) => {
        opened.push(asked.url)
        return { action: 'accept' }
      },
    })
    await expect(client.callTool('hostile')).rejects.toMatchObject({ name: 'ClientError' })
    expect(opened).toEqual([])
    expect(textOf(await client.callTool('echo'))).toBe('still here')
  })

  test('whose icons have unsafe URLs has those icons removed [BAS-067]', async () => {
    const sources = [
      'javascript:alert(1)',
      'JAVASCRIPT:alert(1)',
      'file:///etc/passwd',
      'http://internal/',
      'data:text/html,x',
    ]
    const icons = ['https://example.com/a.png', ...sources].map((src) => ({ src }))
    const tools = [{ name: 'hostile', inputSchema: schemaOf({}), icons }]
    await using served = await serve(honest, overrideResults({ 'tools/list': () => ({ ...cached, tools }) }))
    const [listed] = await served.connect().client.listTools()
    expect(listed?.icons?.map(({ src }) => src)).toEqual(['https://example.com/a.png'])
  })

  test('whose schemas have external references causes no request (CVE-2026-116686) [BAS-041 BAS-042]', async () => {
    await using trap = await openCountingServer()
    const file = { $ref: 'file:///etc/passwd' }
    const tools = [{ $ref: trap.url }, { $ref: `${trap.url}#/$defs/a` }, { $id: trap.url, $ref: 'other' }, file].map(
      (part, index) => ({ name: `t${index}`, inputSchema: schemaOf({}), outputSchema: schemaOf({ part }) }),
    )
    const answers = {
      'tools/list': () => ({ ...cached, tools }),
      'tools/call': () => ({ ...textResult('{}'), structuredContent: { part: 1 } }),
    }
    await using served = await serve(honest, overrideResults(answers))
    const warnings: LogRecord[] = []
    const log = (record: LogRecord): void => void warnings.push(record)
    const { client } = served.connect({ outputSchemaCompiler: compileJsonSchema, log })
    for (const { name } of await client.listTools()) await client.callTool(name).catch(() => {})
    expect(trap.visits()).toBe(0)
    expect(warnings.length).toBeGreaterThan(0)
  })

  test('whose tools require invalid header names has those tools removed [SHT-047 SHT-048 SHT-049]', async () => {
    const names = ['X\r\nInjected: yes', 'a b', '', 'Größe', 'a:b']
    const inputSchemas = names.map((name) => schemaOf({ a: { type: 'string', 'x-mcp-header': name } }))
    const tools = inputSchemas.map((inputSchema, index) => ({ name: `t${index}`, inputSchema }))
    await using served = await serve(honest, overrideResults({ 'tools/list': () => ({ ...cached, tools }) }))
    const rejected: unknown[] = []
    const { client } = served.connect({ log: ({ name }) => void rejected.push(name) })
    expect(await client.listTools()).toEqual([])
    expect(rejected).toEqual(tools.map(({ name }) => name))
  })
})

overMemory('a hostile server with a list without an end', (serve) => {
  test.each([
    ['the same cursor for ever', () => 'again'],
    ['a new cursor for ever', ({ id }: RpcRequest) => `page ${id}`],
  ])('that returns %s does not block the client', async (_, cursorOf) => {
    let pages = 0
    const answer = (request: RpcRequest): JsonObject => {
      pages += 1
      return { ...cached, tools: [], nextCursor: cursorOf(request) }
    }
    await using served = await serve(honest, overrideResults({ 'tools/list': answer }))
    const { client } = served.connect()
    await expect(client.listTools()).rejects.toMatchObject({ code: 'endless_list' })
    expect(pages).toBeLessThanOrEqual(1000)
    expect(textOf(await client.callTool('echo'))).toBe('still here')
  })
})

describe('a server that redirects a client (CVE-2026-111769)', () => {
  test.each([301, 302, 303, 307, 308])('with %i receives no request at the other origin', async (status) => {
    await using trap = await openCountingServer()
    const server = createHttpServer((_, response) => response.writeHead(status, { location: trap.url }).end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const connection = connectHttp(`http://127.0.0.1:${portOf(server.address())}/mcp`, {
      headers: { authorization: 'Bearer secret' },
    })
    const call = createClient(connection, { name: 'e2e-client', version: '1.0.0' }).callTool('greet', { to: 'secret' })
    await expect(call).rejects.toMatchObject({ cause: { code: 'redirect', status } })
    expect(trap.visits()).toBe(0)
    await connection.close()
    server.close()
  })
})

/** Opens a server that counts its connections. A test expects none. */
async function openCountingServer() {
  let visits = 0
  const server = createHttpServer((_, response) => response.end('{}'))
  server.on('connection', () => void (visits += 1))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${portOf(server.address())}/schema.json`,
    visits: () => visits,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function portOf(address: ReturnType<ReturnType<typeof createHttpServer>['address']>): number {
  return typeof address === 'object' && address !== null ? address.port : 0
}
