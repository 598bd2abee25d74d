import { type JsonObject, metaKeys, protocolVersion } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { isResourceNotFound } from './client-error.ts'
import { createClient } from '../create-client.ts'
import { withClientConstants } from './options.ts'
import {
  hostInfo,
  pendingPromise,
  createTextResult,
  createScriptedExchange,
  createToolsPage,
} from '../testing/scripted-exchange.ts'

const twoVersions = { ...hostInfo, ...withClientConstants({ versions: ['2031-01-01', '2026-07-28'] }) }

describe('A request', () => {
  test('carries version and capabilities, and who calls [BAS-051 BAS-055 TOL-001]', async () => {
    const exchange = createScriptedExchange(({ request }) =>
      request.method === 'tools/list' ? createToolsPage([]) : createTextResult('hi'),
    )
    const capabilities = { elicitation: { form: {} } }
    const client = createClient(exchange, { ...hostInfo, clientInfo: { title: 'The host' }, capabilities })
    await client.callTool('greet', { name: 'Ada' })
    await client.listTools()
    for (const { meta } of exchange.received) {
      expect(meta).toMatchObject({
        [metaKeys.protocolVersion]: protocolVersion,
        [metaKeys.clientCapabilities]: capabilities,
        [metaKeys.clientInfo]: { name: 'host', version: '1.0.0', title: 'The host' },
      })
    }
    expect(exchange.received[0]?.params).toEqual({ name: 'greet', arguments: { name: 'Ada' } })
  })

  test('cannot replace the members that the client writes by its own _meta', async () => {
    const exchange = createScriptedExchange(() => createTextResult('hi'))
    const meta = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01',
      [metaKeys.protocolVersion]: 'x',
    }
    await createClient(exchange, hostInfo).callTool('greet', {}, { meta })
    expect(exchange.received[0]?.meta).toMatchObject({
      traceparent: meta.traceparent,
      [metaKeys.protocolVersion]: protocolVersion,
    })
  })

  test('has an id that no open request of the same exchange has, whichever client sent it [BAS-003 BAS-004 BAS-005]', async () => {
    const exchange = createScriptedExchange(() => pendingPromise)
    const [one, two] = [createClient(exchange, hostInfo), createClient(exchange, hostInfo)]
    for (const client of [one, two, one, two]) void client.callTool('greet')
    await Promise.resolve()
    const ids = exchange.received.map(({ request }) => request.id)
    expect(ids).toHaveLength(4)
    expect(new Set(ids).size).toBe(4)
    for (const id of ids) expect(Number.isSafeInteger(id)).toBe(true)
  })

  test('asks for progress under a token of its own [PRG-001 PRG-002]', async () => {
    const exchange = createScriptedExchange(() => pendingPromise)
    const client = createClient(exchange, hostInfo)
    for (let count = 0; count < 3; count += 1) void client.callTool('greet', {}, { onProgress: () => {} })
    await Promise.resolve()
    const tokens = exchange.received.map(({ meta }) => meta.progressToken)
    expect(new Set(tokens).size).toBe(3)
    for (const token of tokens) expect(Number.isInteger(token)).toBe(true)
  })
})

describe('The revision', () => {
  const refusing =
    (supported: readonly string[]) =>
    ({ meta }: { meta: JsonObject }) => {
      const requested = meta[metaKeys.protocolVersion] ?? ''
      if (supported.includes(String(requested))) return createTextResult('hi')
      return { error: { code: -32022, message: 'Unsupported protocol version', data: { supported, requested } } }
    }

  test('is chosen again from those that the server names, once, and remembered [VER-002]', async () => {
    const exchange = createScriptedExchange(refusing(['2030-01-01', '2026-07-28']))
    const client = createClient(exchange, twoVersions)
    await client.callTool('greet')
    await client.callTool('greet')
    const sent = exchange.received.map(({ meta }) => meta[metaKeys.protocolVersion])
    expect(sent).toEqual(['2031-01-01', '2026-07-28', '2026-07-28'])
    expect(new Set(exchange.received.map(({ request }) => request.id)).size).toBe(3)
  })

  test('is an error that names the revisions of both sides when they share none [VER-002]', async () => {
    const exchange = createScriptedExchange(refusing(['2025-11-25']))
    const failure = createClient(exchange, hostInfo).callTool('greet')
    await expect(failure).rejects.toMatchObject({ code: 'unsupported_version', rpc: { code: -32022 } })
    await expect(failure).rejects.toThrow('2025-11-25')
    expect(exchange.received).toHaveLength(1)
  })

  test('is tried twice at a server that refuses the revision that it names, and not more', async () => {
    const data = { supported: ['2026-07-28'], requested: '2026-07-28' }
    const exchange = createScriptedExchange(() => ({ error: { code: -32022, message: 'no', data } }))
    await expect(createClient(exchange, hostInfo).callTool('greet')).rejects.toMatchObject({ code: 'rpc' })
    expect(exchange.received).toHaveLength(2)
  })

  test('is one of those that discovery names [DIS-003]', async () => {
    const discovered = {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: {},
      ttlMs: 0,
      cacheScope: 'public',
    }
    const exchange = createScriptedExchange(({ request }) =>
      request.method === 'server/discover' ? discovered : createTextResult('hi'),
    )
    const client = createClient(exchange, twoVersions)
    expect(await client.discover()).toEqual(discovered)
    await client.callTool('greet')
    expect(exchange.received[1]?.meta[metaKeys.protocolVersion]).toBe('2026-07-28')
  })
})

describe('A result', () => {
  test('without a resultType is complete [BAS-011]', async () => {
    const client = createClient(
      createScriptedExchange(() => ({ content: [] })),
      hostInfo,
    )
    expect(await client.callTool('greet')).toEqual({ resultType: 'complete', content: [] })
  })

  test.each(['task', '', 'Complete', 7, null])('of type %j is invalid [BAS-009 BAS-010]', async (resultType) => {
    const client = createClient(
      createScriptedExchange(() => ({ resultType, content: [] })),
      hostInfo,
    )
    await expect(client.callTool('greet')).rejects.toMatchObject({ code: 'invalid_result' })
  })

  test('that asks for input where the method must not is invalid [BAS-009]', async () => {
    const client = createClient(
      createScriptedExchange(() => ({ resultType: 'input_required', requestState: 's' })),
      hostInfo,
    )
    await expect(client.complete({ type: 'ref/prompt', name: 'p' }, { name: 'a', value: '' })).rejects.toMatchObject({
      code: 'invalid_result',
    })
    await expect(client.listTools()).rejects.toMatchObject({ code: 'invalid_result' })
  })

  test.each<[string, JsonObject, string]>([
    ['lacks its content', { resultType: 'complete' }, 'content'],
    [
      'has content of a wrong type',
      { resultType: 'complete', content: [{ type: 'text', text: 1 }] },
      'content[0].text: expected a string, got a number',
    ],
    ['looks like another kind', { resultType: 'complete', requestState: 's' }, 'content'],
  ])('that %s is invalid, and the error names the path', async (_title, result, path) => {
    const failure = createClient(
      createScriptedExchange(() => result),
      hostInfo,
    ).callTool('greet')
    await expect(failure).rejects.toMatchObject({ code: 'invalid_result', rpc: undefined })
    await expect(failure).rejects.toThrow(path)
  })

  test('with structured content alone has no content', async () => {
    const exchange = createScriptedExchange(() => ({ structuredContent: { a: 1 } }))
    const result = await createClient(exchange, hostInfo).callTool('greet')
    expect(result).toEqual({ resultType: 'complete', content: [], structuredContent: { a: 1 } })
  })

  test('keeps fields that this revision does not know', async () => {
    const client = createClient(
      createScriptedExchange(() => ({ ...createTextResult('hi'), later: { a: 1 } })),
      hostInfo,
    )
    expect(await client.callTool('greet')).toHaveProperty('later', { a: 1 })
  })

  test('of a tool that failed is a result like any other [TOL-034]', async () => {
    const client = createClient(
      createScriptedExchange(() => ({ ...createTextResult('no such city'), isError: true })),
      hostInfo,
    )
    expect(await client.callTool('weather')).toMatchObject({ isError: true })
  })
})

describe('An error', () => {
  const info = { [metaKeys.serverInfo]: { name: 'demo', version: '2.0.0' } }

  test('of the peer says which call, which server and which code [BAS-023]', async () => {
    let answer: JsonObject | { error: { code: number; message: string } } = { ...createTextResult('hi'), _meta: info }
    const exchange = { exchange: createScriptedExchange(() => answer), url: 'https://example.com/mcp' }

    const client = createClient(exchange, hostInfo)
    await client.callTool('greet')
    answer = { error: { code: -32602, message: 'Unknown tool' } }
    const failure = client.callTool('wave')
    await expect(failure).rejects.toMatchObject({
      code: 'rpc',
      rpc: answer.error,
      method: 'tools/call',
      target: 'wave',
    })
    await expect(failure).rejects.toThrow(
      'tools/call "wave" on demo 2.0.0 (https://example.com/mcp): the server answered -32602 Unknown tool',
    )
    expect(client.serverInfo).toEqual({ name: 'demo', version: '2.0.0' })
  })

  test('is one line for any text of the peer', async () => {
    const client = createClient(
      createScriptedExchange(() => ({ error: { code: -32603, message: 'a\r\nFATAL: fake log line' } })),
      hostInfo,
    )
    await expect(client.callTool('greet')).rejects.not.toThrow(/[\r\n]/)
  })

  test('of this side has no code of the peer [BAS-023]', async () => {
    const cause = Object.assign(new Error('connection refused'), { code: -32603 })
    const client = createClient(() => Promise.reject(cause), hostInfo)
    await expect(client.callTool('greet')).rejects.toMatchObject({ code: 'transport', cause, rpc: undefined })
  })

  test('is of the code of a version when the transport has found an older server', async () => {
    const cause = Object.assign(new Error('the server answered as 2025-11-25'), { code: 'unsupported_version' })
    const failure = createClient(() => Promise.reject(cause), hostInfo).callTool('greet')
    await expect(failure).rejects.toMatchObject({ code: 'unsupported_version', cause })
    await expect(failure).rejects.toThrow('the server answered as 2025-11-25')
  })

  test.each([
    ['in the words of this revision', -32602, { uri: 'file:///x' }, true],
    ['in those of earlier ones', -32002, undefined, true],
    ['and other invalid params do not', -32602, undefined, false],
    ['nor does a code without a meaning', -32003, { uri: 'file:///x' }, false],
  ])('says that a resource does not exist %s [BAS-022 BAS-017]', async (...[, code, data, expected]) => {
    const client = createClient(
      createScriptedExchange(() => ({ error: { code, message: 'no', ...(data && { data }) } })),
      hostInfo,
    )
    const failure = await client.readResource('file:///x').catch((error: unknown) => error)
    expect(isResourceNotFound(failure)).toBe(expected)
  })
})

describe('A request of an extension', () => {
  test('is sent like other requests, and its result is returned unchanged', async () => {
    const exchange = createScriptedExchange(() => ({ note: { text: 'x' } }))
    const client = createClient(exchange, hostInfo)
    const result = await client.request('notes/get', { id: 7 }, { meta: { 'com.example/a': 1 } })
    expect(result).toEqual({ note: { text: 'x' } })
    expect(exchange.received[0]).toMatchObject({
      request: { method: 'notes/get' },
      params: { id: 7 },
      meta: { 'com.example/a': 1, [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientInfo]: hostInfo },
    })
  })

  test('is never answered from the cache', async () => {
    const exchange = createScriptedExchange(() => createToolsPage([]))
    const client = createClient(exchange, hostInfo)
    for (let count = 0; count < 2; count += 1) await client.request('tools/list')
    expect(exchange.received).toHaveLength(2)
  })

  test('rejects with the error of the peer, the method and the server', async () => {
    const exchange = createScriptedExchange(() => ({ error: { code: -32043, message: 'Not found', data: { id: 7 } } }))
    const failed = createClient(exchange, hostInfo).request('notes/get')
    await expect(failed).rejects.toMatchObject({
      name: 'ClientError',
      code: 'rpc',
      method: 'notes/get',
      rpc: { code: -32043, data: { id: 7 } },
    })
  })

  test('is cancelled by its signal', async () => {
    const exchange = createScriptedExchange(() => pendingPromise)
    const controller = new AbortController()
    const pending = createClient(exchange, hostInfo).request('notes/get', {}, { signal: controller.signal })
    controller.abort('enough')
    await expect(pending).rejects.toBe('enough')
    expect(exchange.received[0]?.call.signal.aborted).toBe(true)
  })
})
