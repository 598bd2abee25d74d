import { errorCodes, McpError, metaKeys, protocolVersion, type RpcNotification } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, DefinitionError, prompt, resource, tool } from './index.ts'
import {
  sendRequest,
  callOf,
  callTool,
  createLogCollector,
  errorOf,
  invalidParams,
  pagesOf,
  resultOf,
  textOf,
} from './testing/ask.ts'

const about = { name: 'demo', version: '1.0.0' }
const echo = tool('echo', {
  description: 'Says it again',
  input: z.object({ text: z.string() }),
  run: ({ text }) => text,
})
const nothing = tool('nothing', { description: 'Does nothing', run: () => 'nothing' })
const whole = createServer({
  ...about,
  tools: [echo],
  prompts: [prompt('hello', { run: () => 'Hello' })],
  resources: [resource('text://a', { name: 'a', read: () => 'A' })],
})

describe('the order of checks', () => {
  test.each([
    ['ping', undefined],
    ['logging/setLevel', { level: 'info' }],
    ['resources/subscribe', { uri: 'text://a' }],
    ['no/such/method', undefined],
    ['__proto__', undefined],
    ['constructor', undefined],
  ])(
    '%s is not found, without a _meta as with one, and the versions served are named [VER-008 BAS-012]',
    async (method, params) => {
      const bare = await whole.exchange({ jsonrpc: '2.0', id: 'x', method, ...(params && { params }) }, callOf())
      const full = await sendRequest(whole, method, params, { id: 'x' })
      for (const response of [bare, full]) {
        expect(response).toMatchObject({
          id: 'x',
          error: { code: errorCodes.methodNotFound, data: { supported: [protocolVersion] } },
        })
        expect('error' in response && response.error.message).toContain(protocolVersion)
      }
    },
  )

  test('a client that begins with an earlier revision gets one error code [VER-001 VER-008]', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'old', version: '1' } }
    const handshake = { jsonrpc: '2.0', id: 'x', method: 'initialize', params } as const
    expect(await whole.exchange(handshake, callOf())).toEqual({
      jsonrpc: '2.0',
      id: 'x',
      error: {
        code: errorCodes.unsupportedProtocolVersion,
        message: `this server speaks only MCP ${protocolVersion}; the client opened with 2025-11-25`,
        data: { supported: [protocolVersion], requested: '2025-11-25' },
      },
    })
    // A request of this revision asks for a method that does not exist.
    expect(await sendRequest(whole, 'initialize', params)).toMatchObject({ error: { code: errorCodes.methodNotFound } })
  })

  test.each([
    ['tools/list', { prompts: [] }],
    ['tools/call', { prompts: [] }],
    ['prompts/list', { tools: [] }],
    ['prompts/get', { tools: [] }],
    ['resources/list', { tools: [] }],
    ['resources/templates/list', { tools: [] }],
    ['resources/read', { tools: [] }],
    ['completion/complete', { tools: [] }],
    ['subscriptions/listen', { tools: [], subscriptions: false as const }],
  ])('%s is not found on a server that does not declare its capability', async (method, offers) => {
    const server = createServer({ ...about, ...offers })
    expect(await errorOf(server, method)).toMatchObject({ code: errorCodes.methodNotFound })
  })

  test.each([
    ['no params', undefined, 'params'],
    ['no _meta', {}, '_meta'],
    ['no protocol version', { _meta: { [metaKeys.clientCapabilities]: {} } }, metaKeys.protocolVersion],
    ['no capabilities', { _meta: { [metaKeys.protocolVersion]: protocolVersion } }, metaKeys.clientCapabilities],
    [
      'an unknown version but no capabilities',
      { _meta: { [metaKeys.protocolVersion]: '1900-01-01' } },
      metaKeys.clientCapabilities,
    ],
  ])('a request with %s is refused by name [BAS-052]', async (_, params, named) => {
    const response = await whole.exchange(
      { jsonrpc: '2.0', id: 7, method: 'tools/list', ...(params && { params }) },
      callOf(),
    )
    expect(response).toMatchObject({ id: 7, error: { code: invalidParams, message: expect.stringContaining(named) } })
  })

  test('a request without clientInfo is served [BAS-054]', async () => {
    expect(await resultOf(whole, 'server/discover')).toMatchObject({ resultType: 'complete' })
  })

  test.each(['2025-11-25', '1900-01-01', '2026-07-29', ''])(
    'version "%s" is refused, with those that are served [VER-001 BAS-019]',
    async (requested) => {
      // The params are wrong for this revision, but who knows what they are in that one.
      const error = await errorOf(whole, 'tools/call', { name: 7 }, { meta: { [metaKeys.protocolVersion]: requested } })
      expect(error).toMatchObject({
        code: errorCodes.unsupportedProtocolVersion,
        data: { supported: [protocolVersion], requested },
      })
    },
  )

  test('an unknown log level is refused', async () => {
    const error = await errorOf(whole, 'tools/list', {}, { meta: { [metaKeys.logLevel]: 'loud' } })
    expect(error).toMatchObject({ code: invalidParams, message: expect.stringContaining('logLevel') })
  })
})

describe('results', () => {
  test.each([
    ['server/discover', {}],
    ['tools/list', {}],
    ['tools/call', { name: 'echo', arguments: { text: 'a' } }],
    ['tools/call', { name: 'echo', arguments: {} }],
    ['prompts/list', {}],
    ['prompts/get', { name: 'hello' }],
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['resources/read', { uri: 'text://a' }],
  ])('%s %j says that it is complete and who answers [BAS-006 BAS-007 BAS-008 BAS-059]', async (method, params) => {
    const result = await resultOf(whole, method, params, { id: 'same' })
    expect(result).toMatchObject({ resultType: 'complete', _meta: { [metaKeys.serverInfo]: about } })
  })

  test('a result has its own _meta beside that of the server, and cannot name another server', async () => {
    const _meta = { 'com.example/a': 1, [metaKeys.serverInfo]: { name: 'other', version: '0' } }
    const run = () => ({ content: [], _meta })
    const server = createServer({ ...about, tools: [tool('a', { description: 'a', run })] })
    expect(await callTool(server, 'a')).toMatchObject({ _meta: { 'com.example/a': 1, [metaKeys.serverInfo]: about } })
  })
})

describe('errors on the wire', () => {
  const throwing = (error: unknown) => {
    const { reported, log } = createLogCollector()
    const read = () => {
      throw error
    }
    const server = createServer({ ...about, log, resources: [resource('text://a', { name: 'a', read })] })
    return { reported, error: errorOf(server, 'resources/read', { uri: 'text://a' }) }
  }

  test('an McpError keeps its code, message and data [BAS-013 BAS-014]', async () => {
    const { error, reported } = throwing(new McpError(4711, 'Not now', { data: { after: 3 } }))
    expect(await error).toEqual({ code: 4711, message: 'Not now', data: { after: 3 } })
    expect(reported).toEqual([])
  })

  test.each([[-32000], [-32002], [-32019], [-32042], [-32023], [-32099], [1.5], [Number.NaN]])(
    'code %d, which must not be sent, becomes an internal error [BAS-014 BAS-015 BAS-016 BAS-018 BAS-020 BAS-021]',
    async (code) => {
      const { error, reported } = throwing(new McpError(code, 'secret'))
      expect(await error).toEqual({ code: errorCodes.internal, message: 'Internal error' })
      expect(reported).toHaveLength(1)
    },
  )

  test.each([[new Error('secret path /etc/x')], ['secret'], [undefined], [{ message: 'secret', code: 1 }]])(
    'any other thrown value (%s) is logged, and the peer receives an internal error without details',
    async (thrown) => {
      const { error, reported } = throwing(thrown)
      expect(await error).toEqual({ code: errorCodes.internal, message: 'Internal error' })
      expect(reported).toEqual([{ error: thrown, where: { method: 'resources/read', name: 'text://a' } }])
    },
  )

  test('a log that throws changes nothing', async () => {
    const log = () => {
      throw new Error('the log is full')
    }
    const run = () => {
      throw new Error('no')
    }
    const server = createServer({ ...about, log, tools: [tool('a', { description: 'a', run })] })
    expect(await callTool(server, 'a')).toMatchObject({ isError: true })
  })
})

describe('update', () => {
  const server = createServer({ ...about, tools: [echo] })

  test('replaces the given members and keeps the others', async () => {
    const other = createServer({ ...about, tools: [echo], prompts: [prompt('hello', { run: () => 'Hello' })] })
    other.update({ tools: [nothing] })
    expect(await callTool(other, 'nothing')).toMatchObject({ content: [{ text: 'nothing' }] })
    expect(await errorOf(other, 'tools/call', { name: 'echo' })).toMatchObject({ code: invalidParams })
    expect(await resultOf(other, 'prompts/list')).toMatchObject({ prompts: [{ name: 'hello' }] })
    other.update({ resources: [] })
    expect(await resultOf(other, 'server/discover')).toMatchObject({
      capabilities: { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { subscribe: true } },
    })
  })

  test('throws for a definition that cannot be served, and changes nothing', async () => {
    const before = await pagesOf(server, 'tools/list')
    expect(() => server.update({ tools: [nothing, nothing] })).toThrow(DefinitionError)
    expect(() => server.update({ tools: [nothing], prompts: [prompt('', { run: () => '' })] })).toThrow(DefinitionError)
    expect(await pagesOf(server, 'tools/list')).toEqual(before)
    expect(await callTool(server, 'echo', { text: 'still' })).toMatchObject({ content: [{ text: 'still' }] })
  })

  test('does not change a call that runs', async () => {
    let release = (_: string) => {}
    const waiting = new Promise<string>((resolve) => {
      release = resolve
    })
    const changing = createServer({ ...about, tools: [tool('slow', { description: 'Waits', run: () => waiting })] })
    const answer = callTool(changing, 'slow')
    changing.update({ tools: [] })
    release('as it began')
    expect(textOf(await answer)).toBe('as it began')
  })
})

describe('one server for everybody', () => {
  test('two callers with the same ids never receive responses of the other [BAS-027 BAS-028 BAS-029]', async () => {
    const secrets = tool('secret', {
      description: 'Tells callers their own secret, in two turns of the loop',
      async run(_, ctx) {
        ctx.progress(1)
        await Promise.resolve()
        ctx.progress(2)
        return `secret of ${ctx.principal?.subject}`
      },
    })
    const server = createServer({ ...about, tools: [secrets] })
    const callers = ['alice', 'bob'].map((subject) => ({ subject, messages: [] as RpcNotification[] }))
    for (let round = 0; round < 1000; round++) {
      const answers = callers.map(({ subject, messages }) =>
        callTool(
          server,
          'secret',
          {},
          {
            id: round,
            principal: { subject },
            notify: (message) => void messages.push(message),
            meta: { progressToken: `${subject} ${round}` },
          },
        ),
      )
      for (const [index, answer] of (await Promise.all(answers)).entries()) {
        expect(textOf(answer)).toBe(`secret of ${callers[index]?.subject}`)
      }
    }
    for (const { subject, messages } of callers) {
      expect(messages).toHaveLength(2000)
      expect(messages.every(({ params }) => String(params?.['progressToken']).startsWith(subject))).toBe(true)
    }
  })

  test('what one request declares does not count for the next [BAS-027 BAS-056]', async () => {
    const asks = tool('asks', { description: 'a', run: (_, ctx) => String(ctx.can('sampling')) })
    const server = createServer({ ...about, tools: [asks] })
    const declared = { meta: { [metaKeys.clientCapabilities]: { sampling: {} } } }
    expect(textOf(await callTool(server, 'asks', {}, declared))).toBe('true')
    expect(textOf(await callTool(server, 'asks', {}))).toBe('false')
  })
})

test('the server object has its name and version, and is frozen', () => {
  expect(whole.info).toEqual(about)
  expect(Object.isFrozen(whole.info)).toBe(true)
})
