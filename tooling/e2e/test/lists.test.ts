import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import { prompt, resource, resourceTemplate, tool } from '@x/server'
import { internalSettings } from '@x/server/internals'
import { expect, test } from 'vitest'
import { overEveryTransport } from './over-every-transport.ts'
import { resultOf, send } from './raw-request.ts'

const named = (name: string) => tool(name, { description: `The tool ${name}`, run: () => name })
const five = ['five', 'four', 'one', 'three', 'two'].map(named)
const twoInAPage = internalSettings({ pageSize: 2 })
const everything = {
  tools: [named('one')],
  prompts: [prompt('ask', { description: 'Asks', run: () => 'Well?' })],
  resources: [resource('test://one', { name: 'one', read: () => '1' })],
  resourceTemplates: [resourceTemplate('test://{id}', { name: 'any', read: ({ id }) => String(id) })],
}

overEveryTransport('a list', (serve) => {
  test('that needs several pages is read completely and in the same order each time [TOL-005 TOL-007]', async () => {
    await using served = await serve({ tools: five, ...twoInAPage })
    const names = async (): Promise<string[]> =>
      (await served.connect({ cache: false }).client.listTools()).map(({ name }) => name)
    const first = await names()
    expect(first.toSorted()).toEqual(five.map(({ name }) => name))
    expect(await names()).toEqual(first)
  })

  test('is split at the page size, and its last page has no cursor', async () => {
    await using served = await serve({ tools: five, ...twoInAPage })
    const { exchange } = served.connect()
    const sizes: number[] = []
    let cursor: JsonValue | undefined
    do {
      const params: JsonObject = cursor === undefined ? {} : { cursor }
      const page: JsonObject = resultOf((await send(exchange, { method: 'tools/list', params })).response)
      sizes.push(Array.isArray(page['tools']) ? page['tools'].length : -1)
      cursor = page['nextCursor']
    } while (cursor !== undefined)
    expect(sizes).toEqual([2, 2, 1])
  })

  test('rejects a cursor that the server did not issue', async () => {
    await using served = await serve({ tools: five, ...twoInAPage })
    const { response } = await send(served.connect().exchange, { method: 'tools/list', params: { cursor: 'x' } })
    expect(response).toMatchObject({ id: 1, error: { code: -32602 } })
  })

  test('does not depend on the calls of other callers [TOL-006]', async () => {
    await using served = await serve({ tools: five })
    const before = await served.connect().client.listTools()
    await served.connect().client.callTool('one')
    expect(await served.connect().client.listTools()).toEqual(before)
  })

  test('returns all changed definitions to the next request', async () => {
    await using served = await serve({ tools: five })
    served.server.update({ tools: [named('six')] })
    const { client } = served.connect()
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['six'])
    expect((await client.callTool('six')).content).toEqual([{ type: 'text', text: 'six' }])
    await expect(client.callTool('five')).rejects.toMatchObject({ rpc: { code: -32602 } })
  })
})

overEveryTransport('caching hints', (serve) => {
  test.each([
    ['server/discover', {}],
    ['tools/list', {}],
    ['prompts/list', {}],
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['resources/read', { uri: 'test://one' }],
  ])(
    'are part of the result of %s [CCH-001 CCH-002 CCH-003 CCH-004 CCH-005 CCH-006 CCH-014 CCH-015]',
    async (method, params) => {
      await using served = await serve(everything)
      const result = resultOf((await send(served.connect().exchange, { method, params })).response)
      expect(result['ttlMs']).toSatisfy((ttl) => Number.isInteger(ttl) && Number(ttl) >= 0)
      expect(result['cacheScope']).toBeOneOf(['public', 'private'])
    },
  )

  test('are equal on all pages of a list [CCH-024]', async () => {
    await using served = await serve({ tools: five, ...twoInAPage, cache: { ttlMs: 60_000, scope: 'public' } })
    const { exchange } = served.connect()
    const first = resultOf((await send(exchange, { method: 'tools/list' })).response)
    const params = { cursor: first['nextCursor'] }
    const second = resultOf((await send(exchange, { method: 'tools/list', params })).response)
    expect([first['cacheScope'], first['ttlMs']]).toEqual(['public', 60_000])
    expect([second['cacheScope'], second['ttlMs']]).toEqual(['public', 60_000])
  })

  test('with a ttlMs above 0 avoid a second request [CCH-011]', async () => {
    await using served = await serve({ tools: five, cache: { ttlMs: 60_000 } })
    const { client } = served.connect()
    await client.listTools()
    served.server.update({ tools: [named('six')] })
    expect(await client.listTools()).toHaveLength(5)
    expect(await client.listTools({ refresh: true })).toHaveLength(1)
  })

  test('with a ttlMs of 0 make the client send the request again [CCH-010]', async () => {
    await using served = await serve({ tools: five, cache: { ttlMs: 0 } })
    const { client } = served.connect()
    await client.listTools()
    served.server.update({ tools: [named('six')] })
    expect(await client.listTools()).toHaveLength(1)
  })
})

overEveryTransport('discovery', (serve) => {
  test('lists versions, and a capability for each family that has definitions [VER-003 DIS-001 DIS-002 TOL-004]', async () => {
    await using served = await serve(everything)
    const { supportedVersions, capabilities } = await served.connect().client.discover()
    expect(supportedVersions).toContain('2026-07-28')
    expect(Object.keys(capabilities)).toEqual(expect.arrayContaining(['tools', 'prompts', 'resources']))
  })

  test('declares no capability for a family without definitions', async () => {
    await using served = await serve({ tools: [named('one')] })
    const { capabilities } = await served.connect().client.discover()
    expect(capabilities).toHaveProperty('tools')
    expect(capabilities).not.toHaveProperty('prompts')
    expect(capabilities).not.toHaveProperty('resources')
  })

  test('names the server in _meta [DIS-005]', async () => {
    await using served = await serve({})
    const result = resultOf((await send(served.connect().exchange, { method: 'server/discover' })).response)
    const meta = isJsonObject(result['_meta']) ? result['_meta'] : {}
    expect(meta['io.modelcontextprotocol/serverInfo']).toEqual({ name: 'e2e-server', version: '1.0.0' })
  })
})
