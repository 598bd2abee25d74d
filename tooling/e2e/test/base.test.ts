import { createClient } from '@x/client'
import type { Exchange } from '@x/exchange'
import { errorCodes, isJsonObject, type JsonObject, metaKeys, type RpcRequest } from '@x/schema'
import { type Context, createServer, prompt, resource, tool } from '@x/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { duplicateOf17, forms, keys, recordRequests, resolveTool, stateWith, textOf } from './asking.ts'
import { overEveryTransport } from './over-every-transport.ts'
import { resultOf, send } from './raw-request.ts'

const point = z.object({ at: z.tuple([z.number(), z.number()]) })
const place = tool('place', {
  description: 'Takes a pair',
  input: point,
  run: ({ at }, ctx) => {
    ctx.progress(1, 1, 'placed')
    return at.join(' ')
  },
})
const secret = tool('secret', {
  description: 'For Ada alone',
  visibleTo: (principal) => principal?.subject === 'ada',
  run: () => 'the secret',
})
const everything = () => ({
  tools: [place, secret, resolveTool()],
  prompts: [prompt('ask', { description: 'Asks', run: () => 'Well?' })],
  resources: [resource('test://one', { name: 'one', read: () => '1' })],
  state: stateWith(keys.first),
})
const requests = [
  { method: 'server/discover' },
  { method: 'tools/list' },
  { method: 'tools/call', params: { name: 'place', arguments: { at: [1, 2] } } },
  { method: 'tools/call', params: { name: 'secret', arguments: {} } },
  { method: 'prompts/get', params: { name: 'ask' } },
  { method: 'resources/read', params: { uri: 'test://one' } },
] as const

overEveryTransport('a server and its client', (serve) => {
  test('use versions, requests, progress, rounds, changes and cancellation on one connection [BAS-001]', async () => {
    await using served = await serve(everything())
    const { client } = served.connect({ ...duplicateOf17 })
    expect((await client.discover()).supportedVersions).toContain('2026-07-28')
    const controller = new AbortController()
    const changes = client.listen({ toolsListChanged: true }, { signal: controller.signal })[Symbol.asyncIterator]()
    expect(await changes.next()).toMatchObject({ value: { type: 'opened' } })
    const progressed: unknown[] = []
    const onProgress = (progress: unknown): void => void progressed.push(progress)
    expect(textOf(await client.callTool('place', { at: [1, 2] }, { onProgress }))).toBe('1 2')
    expect(progressed).toEqual([{ progress: 1, total: 1, message: 'placed' }])
    expect(textOf(await client.callTool('resolve', { id: 1 }))).toBe('#1 duplicates #17 (save 1)')
    await served.server.notifyListChanged('tools')
    expect(await changes.next()).toMatchObject({ value: { type: 'toolsListChanged' } })
    controller.abort('enough')
    await expect(changes.next()).rejects.toBe('enough')
  })

  test('exchange the same messages as in memory, with the same metadata [TRI-003]', async () => {
    const arrivedIn = async (start: typeof serve | undefined): Promise<readonly RpcRequest[]> => {
      const server = createServer({ name: 'e2e-server', version: '1.0.0', ...everything() })
      const { exchange, requests: seen } = recordRequests(server.exchange)
      const host = { name: 'e2e-client', version: '1.0.0' }
      const use = async (over: Exchange): Promise<void> => {
        const client = createClient(over, { ...host, ...duplicateOf17 })
        await client.listTools()
        await client.callTool(
          'place',
          { at: [1, 2] },
          { logLevel: 'debug', meta: { traceparent: 'x' }, idempotencyKey },
        )
      }
      if (start === undefined) {
        await use(exchange)
        return seen
      }
      await using served = await start({}, { middleware: () => exchange })
      await use(served.connect().exchange)
      return seen.filter(({ method }) => method !== 'server/discover')
    }
    const [here, there] = [await arrivedIn(undefined), await arrivedIn(serve)]
    expect(here).toHaveLength(2)
    const contentOf = ({ params }: RpcRequest): unknown =>
      params?.['_meta'] && { ...params, _meta: withoutToken(params['_meta']) }
    expect(there.map(contentOf)).toEqual(here.map(contentOf))
    expect(there.map(({ method }) => method)).toEqual(here.map(({ method }) => method))
  })

  test.each([
    ['no info', undefined],
    ['another name', { name: 'other', version: '9.9.9' }],
    ['the name of a principal', { name: 'ada', version: '1.0.0', title: 'Administrator' }],
    ['hostile text', { name: '__proto__', version: '<script>', description: 'x'.repeat(10_000) }],
  ])('answer equally for every client info: %s [BAS-060 BAS-061]', async (_, clientInfo) => {
    await using served = await serve(everything())
    const { exchange } = served.connect({ subject: 'grace' })
    const plain = { [metaKeys.clientInfo]: { name: 'e2e-client', version: '1.0.0' } }
    for (const request of requests) {
      const usual = await send(exchange, { ...request, meta: plain })
      const unusual = await send(exchange, {
        ...request,
        meta: clientInfo === undefined ? {} : { [metaKeys.clientInfo]: clientInfo },
      })
      expect(unusual.response).toEqual(usual.response)
    }
  })

  test.each([
    ['no info', undefined],
    ['another name', { name: 'other', version: '9.9.9' }],
    ['a well-known name', { name: 'official', version: '2.0.0', title: 'Trusted' }],
  ])('send equal requests for every server info: %s [BAS-060 BAS-061 DIS-006 DIS-007]', async (_, serverInfo) => {
    const middleware =
      (server: Exchange): Exchange =>
      async (request, call) => {
        const response = await server(request, call)
        if (!('result' in response)) return response
        const _meta: JsonObject = serverInfo === undefined ? {} : { [metaKeys.serverInfo]: serverInfo }
        return { ...response, result: { ...response.result, _meta } }
      }
    const use = async (options: Parameters<typeof serve>[1]): Promise<readonly unknown[]> => {
      await using served = await serve(everything(), options)
      const { exchange, requests: sent } = recordRequests(served.connect().exchange)
      const client = createClient(exchange, { name: 'e2e-client', version: '1.0.0', ...duplicateOf17 })
      const { supportedVersions } = await client.discover()
      const tools = await client.listTools()
      const results = [
        await client.callTool('resolve', { id: 1 }, { idempotencyKey }),
        await client.getPrompt('ask', undefined, { idempotencyKey }),
      ]
      const plain = sent.map(({ params, ...rest }) => ({ ...rest, params: { ...params, requestState: undefined } }))
      return [supportedVersions, tools, results.map(({ _meta, ...result }) => result), plain]
    }
    expect(await use({ middleware })).toEqual(await use({}))
  })

  test('accept any value under unknown reserved keys [BAS-046]', async () => {
    const meta: JsonObject = {
      'io.modelcontextprotocol/unknown': { deep: [null] },
      'io.modelcontextprotocol/tasks': 5,
      'dev.mcp/flag': null,
      'com.mcp.tools/x': [],
      'modelcontextprotocol/y': 'text',
    }
    const middleware =
      (server: Exchange): Exchange =>
      async (request, call) => {
        const response = await server(request, call)
        if (!('result' in response)) return response
        return { ...response, result: { ...response.result, _meta: { ...meta, ...metaOf(response.result) } } }
      }
    await using served = await serve(everything(), { middleware })
    const { client } = served.connect()
    expect(textOf(await client.callTool('place', { at: [1, 2] }, { meta }))).toBe('1 2')
    expect((await client.listTools({ meta })).map(({ name }) => name)).toEqual(['place', 'resolve'])
  })

  test('write only _meta keys with a prefix of the protocol or of this project [BAS-049]', async () => {
    await using served = await serve(everything())
    const { exchange, requests: sent } = recordRequests(served.connect().exchange)
    const results: JsonObject[] = []
    const keeping: Exchange = async (request, call) => {
      const response = await exchange(request, call)
      results.push(resultOf(response))
      return response
    }
    const client = createClient(keeping, { name: 'e2e-client', version: '1.0.0', ...duplicateOf17 })
    await client.discover()
    await client.callTool('resolve', { id: 1 }, { onProgress: () => {}, onLog: () => {} })
    await client.readResource('test://one')
    const written = [...sent.map(({ params }) => params ?? {}), ...results].flatMap((one) => Object.keys(metaOf(one)))
    const own = [...new Set(written)].filter((key) => key !== metaKeys.progressToken)
    expect(own.length).toBeGreaterThanOrEqual(5)
    for (const key of own) expect(key).toMatch(/^(io\.modelcontextprotocol|dev\.x)\/\w+$/)
  })

  test('negotiate an extension: a server falls back, or requires the missing capability [VER-005]', async () => {
    const extension = { 'com.example/maps': {} }
    const shows = tool('shows', {
      description: 'Shows a map where the client can',
      run: (_, ctx) => (ctx.can('com.example/maps') ? 'a map' : 'a list of streets'),
    })
    const insists = tool('insists', {
      description: 'Needs it',
      requires: { extensions: extension },
      run: () => 'a map',
    })
    await using served = await serve({ tools: [shows, insists] })
    const [able, unable] = [served.connect({ capabilities: { extensions: extension } }).client, served.connect().client]
    expect([textOf(await able.callTool('shows')), textOf(await able.callTool('insists'))]).toEqual(['a map', 'a map'])
    expect(textOf(await unable.callTool('shows'))).toBe('a list of streets')
    await expect(unable.callTool('insists')).rejects.toMatchObject({
      rpc: { code: -32021, data: { requiredCapabilities: { extensions: extension } } },
    })
  })

  test('ask nothing after a call has ended: the server has no other way to ask the client [SCO-001 SCO-002]', async () => {
    const contexts: Context[] = []
    const keeps = tool('keeps', {
      description: 'Keeps its context',
      run: (_, ctx) => {
        contexts.push(ctx)
        return 'done'
      },
    })
    await using served = await serve({ tools: [keeps], state: stateWith(keys.first) })
    await served.connect({ ...duplicateOf17 }).client.callTool('keeps')
    const [ctx] = contexts
    const ended = { name: 'HandlerError', code: 'ended' }
    await expect(ctx?.elicit('late', { message: 'Sure?', schema: forms.sure })).rejects.toMatchObject(ended)
    await expect(ctx?.elicitUrl('late', { message: 'Go', url: 'https://example.com/' })).rejects.toMatchObject(ended)
    await expect(ctx?.sample('late', { messages: [], maxTokens: 1 })).rejects.toMatchObject(ended)
    await expect(ctx?.roots('late')).rejects.toMatchObject(ended)
    // No member of a server other than results can ask a client. A new member must be reviewed.
    const offered =
      'adapters attachHost close drain emit exchange info ledger load localOnly log needsPrincipal notifyListChanged notifyResourceUpdated ready receive singleProcess update'
    expect(Object.keys(served.server).toSorted().join(' ')).toBe(offered)
  })

  test('publish schemas in JSON Schema 2020-12 [BAS-036]', async () => {
    await using served = await serve(everything())
    const [listed] = await served.connect().client.listTools()
    // JSON Schema 2020-12 describes a tuple with prefixItems. Earlier dialects use items.
    expect(listed?.inputSchema).toMatchObject({ properties: { at: { prefixItems: [{}, {}] } } })
    expect(listed?.inputSchema['$schema']).toBeOneOf([undefined, 'https://json-schema.org/draft/2020-12/schema'])
  })
})

describe('the error codes', () => {
  test('are those of the specification, with none added in its reserved ranges [BAS-024]', () => {
    const specified = [-32_700, -32_600, -32_601, -32_602, -32_603, -32_020, -32_021, -32_022]
    expect(Object.values(errorCodes).toSorted()).toEqual(specified.toSorted())
  })
})

function metaOf({ _meta }: JsonObject): JsonObject {
  return isJsonObject(_meta) ? _meta : {}
}

/** All calls use this key where messages are compared. */
const idempotencyKey = 'A'.repeat(22)

function withoutToken(meta: unknown): JsonObject {
  const { progressToken: _, ...rest } = isJsonObject(meta) ? meta : {}
  return rest
}
